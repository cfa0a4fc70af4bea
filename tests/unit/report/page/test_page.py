"""The page as text: sentences, the promise, the policy, and names that mean harm."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import RedveilError
from redveil.report.document import (
    BeforePart,
    DiscoveryPart,
    GivenPart,
    IntervalPart,
    RedescriptionPart,
    SupportPart,
)
from redveil.report.html import compact
from redveil.report.page import bundle, page
from redveil.report.page.counts import Counts
from redveil.report.page.data import embedded
from redveil.report.page.promise import plain_condition
from redveil.report.page.sentences import Teller, share
from redveil.report.page.stories import DETAILS, DOUBTS, Part, parts
from redveil.report.result import Result
from support.clinic import NOTHING, mined_clinic
from support.page import HOSTILE
from support.results import (
    CERTIFICATE,
    TRUE,
    boolean,
    document,
    query_part,
    redescription,
)

NO_BREAK = "\N{NO-BREAK SPACE}"


def interval(estimate: float, low: float, high: float) -> IntervalPart:
    return IntervalPart(estimate=estimate, low=low, high=high)


def text_of(written: str) -> str:
    """Return what a reader sees."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", written, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def told(**certificate: Any) -> str:
    made = document(redescription("gout"))
    changed = CERTIFICATE.model_copy(update=certificate)
    return text_of(page(made.model_copy(update={"certificate": changed})))


def test_a_finding_is_told_in_both_directions() -> None:
    one = redescription("gout", "acid").model_copy(
        update={
            "jaccard": interval(0.75, 0.56, 1.0),
            "support": redescription().support.model_copy(
                update={
                    "left": interval(120, 90, 150),
                    "right": interval(140, 110, 170),
                    "both": interval(110, 80, 140),
                }
            ),
        }
    )
    found = Teller(document(one)).told(one).text.replace(NO_BREAK, " ")
    assert found == (
        "Of about 120 patients with gout, about 92 % (between 56 and 100 %) have acid, compared "
        "with about 3 % of the others. The other way round, of about 140 patients with acid, about "
        "79 % (between 56 and 100 %) have gout, compared with about 1 % of the others."
    )


def test_a_share_of_hardly_anybody_is_not_a_number() -> None:
    assert share((0, 0), interval(0, 0, 5), interval(0.2, 0, 5), 0.0) == "hardly any"


SHARE = re.compile(
    r"about (\d+) % \((?:hardly less than (\d+) %|at most (\d+) %|between (\d+) and (\d+) %"
    r"|the noise leaves it open)\)"
)


@given(
    st.floats(-50, 1e6), st.floats(0, 1e4), st.floats(-50, 1e6), st.floats(0, 1e4), st.floats(0, 1)
)
def test_a_share_is_between_its_ends(
    both: float, noise: float, size: float, more: float, least: float
) -> None:
    support = SupportPart(
        left=interval(size, size - more, size + more),
        right=interval(size, size - more, size + more),
        both=interval(both, both - noise, both + noise),
    )
    counts = Counts.of(support)
    words = share((counts.both, counts.left), support.both, support.left, least)
    if words != "hardly any":
        found = SHARE.fullmatch(words.replace(NO_BREAK, " "))
        assert found is not None
        estimate, all_of_it, most, low, high = found.groups()
        lowest, highest = int(low or all_of_it or 0), int(high or most or 100)
        assert 0 <= lowest <= int(estimate) <= highest <= 100


def test_the_numbers_of_a_card_add_up() -> None:
    # The overlap is larger than the right support: by noise, but nobody can tell by how much.
    support = SupportPart(
        left=interval(657, 340, 974), right=interval(464, 205, 723), both=interval(490, 307, 673)
    )
    index = interval(490 / (657 + 464 - 490), 0.49, 1.0)
    one = redescription("gout", "acid").model_copy(update={"support": support, "jaccard": index})
    counts = Counts.of(support)
    assert counts == Counts(only_left=140, both=490, only_right=0, adjusted=True)
    text = text_of(page(document(one)))
    assert "Of about 630 patients with gout , about 78 %" in text
    assert "of about 490 patients with acid , about 100 %" in text
    assert "diagnoses only 140 both 490 symptoms only 0" in text
    assert "0.78 Jaccard index" in text
    assert "Overlap and index are as measured" in text
    (bar,) = re.findall(r'<svg class="bar">(.*?)</svg>', page(document(one)))
    assert re.findall(r'<rect class="(\w+)" x="([\d.]+)%" width="([\d.]+)%"', bar) == [
        ("left", "0.00", "21.82"),
        ("both", "22.22", "77.78"),
    ]


counted = st.integers(0, 10**6)


@given(counted, counted, counted)
def test_printed_counts_give_the_printed_index(left: int, right: int, both: int) -> None:
    # Without noise nothing is rounded.
    exact = {"left": left, "right": right, "both": both}
    counts = Counts.of(
        SupportPart(**{name: interval(size, size, size) for name, size in exact.items()})
    )
    either = left + right - both
    if either > 0:
        printed = counts.both / (counts.only_left + counts.both + counts.only_right)
        assert printed == pytest.approx(min(both / either, 1))


def test_the_page_is_known_again_and_only_replaces_itself() -> None:
    from redveil.base.file_kind import FileKind, kind_of

    assert kind_of(page(document(redescription())).encode()) is FileKind.REPORT
    assert kind_of(b"<!doctype html>\n<title>mine</title>") is not FileKind.REPORT


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    written = page(document(redescription()))
    (policy,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', written
    )
    (style,) = re.findall(r"<style>(.*?)</style>", written, flags=re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', written, flags=re.DOTALL)
    rules = dict(rule.split(" ", maxsplit=1) for rule in policy.split("; "))
    for name, inside in (("script-src", script), ("style-src", style)):
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    assert "style=" not in written.replace(style, "").replace(script, "")
    assert "http" not in written.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", [*HOSTILE, "</script>", "<!--", "a\u2028b", "\u202eb"])
def test_hostile_names_stay_text(name: str) -> None:
    certificate = CERTIFICATE.model_copy(
        update={"unit": name, "schema_name": name, "software": name, "algorithm": name}
    )
    entry = redescription(name, name)
    made = document(entry, certificate=certificate, message=name, warning=name)
    plain = page(document(redescription("a", "a")))
    written = page(made)
    tags = re.compile(r"<(\w+)")
    outside = re.sub(r"<script.*?</script>", "", written, flags=re.DOTALL)
    allowed = {*tags.findall(plain), "p"}
    assert set(tags.findall(outside)) <= allowed
    assert written.count("<script") == written.count("</script>") == 2
    (data,) = re.findall(
        r'<script id="result" type="application/json">(.*?)</script>', written, flags=re.DOTALL
    )
    assert not set(data) & set("<>&\u2028\u2029")
    assert json.loads(data)["findings"][0]["left"]["text"] == entry.left.text


def test_embedded_json_is_the_same_json() -> None:
    given_data = {"a": "</script>&\u2028\u2029<!--", "b": [1.5, None, "ε"]}
    assert json.loads(embedded(given_data)) == given_data


def test_the_promise_says_no_more_than_it_can() -> None:
    assert "with a probability at most 2.72 times as large or as small ( ε = 1 )" in told()
    assert "and little that is due to any single one" in told()
    assert "and little that is due to any single one" not in told(epsilon="2")
    assert "can still be applied to one of them" in told()
    strong = told(epsilon="20")
    assert "limited by this number alone" in strong
    # e²⁰ is 485,165,195.4, and "at most" must be true.
    assert "at most 485,165,196 times as large or as small" in strong
    assert "perhaps more than a million million times as large" in told(epsilon="99")
    bad = told(conditions=("an ε above 10 protects hardly anyone",))
    assert "cannot check them: and even then, an ε above 10 protects hardly anyone" in bad
    assert "ran long enough, which cannot be proved" in told(guarantee="asymptotic")
    assert "probability that this fails" in told(delta="1/1000000")


def test_what_is_not_private_says_so_first_and_promises_nothing() -> None:
    published = told(guarantee="as published; see known limits", profile="published")
    unmet = told(conditions=("NOT MET: the schema is a draft", "each patient has one row"))
    owner = text_of(page(document(redescription(true=TRUE), warning="NOT PRIVATE: true values")))
    for text in (published, unmet, owner):
        assert text.split(" redveil ", maxsplit=1)[1].startswith("NOT ")
        assert "limits what can be learned" not in text
        assert "Limits what it tells" not in text
        assert "can still be applied to one of them" not in text
    assert "Nothing that you should rely on" in published
    assert "Nothing to rely on, because of what is NOT MET" in unmet
    assert "Nothing for the true values" in owner
    assert "True Jaccard index 0.625" in owner
    assert "it limits what can be learned about any one patient" in told()


def test_what_was_asked_is_told() -> None:
    gout = GivenPart(left=query_part(boolean("gout")))
    described = told(algorithm="describe", given=gout)
    assert "about 1,000 patients was searched for what best describes those with gout" in described
    assert "were looked at more closely" in told(algorithm="refine", given=gout)
    assert "measured again, on about 1,000 patients, possibly the same" in told(algorithm="confirm")
    within = told(within=gout)
    assert "It is only about patients with gout ." in within


def test_a_confirmation_compares_with_the_earlier_result() -> None:
    change = BeforePart(jaccard=interval(0.6, 0.5, 0.7), difference=interval(-0.1, -0.3, 0.1))
    one = redescription().model_copy(update={"before": change})
    text = text_of(page(document(one)))
    assert "An earlier result said 0.60 [0.50, 0.70]. The difference is −0.10 " in text
    assert "(between −0.30 and +0.10). This is within the noise." in text


def test_an_empty_result_says_why() -> None:
    nothing = mined_clinic(NOTHING)
    assert nothing.message
    text = text_of(nothing.report())
    assert "Nothing was found" in text
    assert " ".join(nothing.message.split()) in text
    assert "The list is empty." in text_of(Result(document()).report())


def test_the_budget_adds_up_and_the_certificate_is_whole() -> None:
    text = text_of(page(document(redescription())))
    assert f"choosing splits 33.3{NO_BREAK}%".replace(NO_BREAK, " ") in text
    assert "counting 66.7 %" in text
    assert "each patient has one row in each view" in text
    assert "sha256:00" in text


def test_conditions_are_plain_and_the_certificate_keeps_its_own() -> None:
    result = mined_clinic(algorithm="tree-pair", walk_steps=50)
    text = text_of(result.report())
    assert len(result.certificate.conditions) >= 6
    for condition in result.certificate.conditions:
        assert plain_condition(condition) != condition
        assert plain_condition(condition) in text
        assert condition in text
    assert "nobody outside saw its messages or how long it took" in text
    assert '<b>any one patient</b>, <a href="#conditions">' in result.report()
    assert 'id="conditions"' in result.report()


def test_ranges_claim_what_is_proved() -> None:
    shallow = mined_clinic(algorithm="twin", depth=1, trials=2).report()
    deep = mined_clinic(algorithm="twin", depth=3, trials=1).report()
    for text in map(text_of, (shallow, deep)):
        assert "if these patients are a sample, ordinary sampling error comes on top" in text
        assert "In at least 95 of 100 such runs, all of these ranges at once contain" in text
    assert "as measured" not in text_of(shallow)
    assert "without noise (for trees as deep as these, as measured)." in text_of(deep)


def test_the_footer_names_the_promise_and_the_file(tmp_path: Path) -> None:
    result = Result(document(redescription()))
    result.save(tmp_path / "result.json")
    digest = hashlib.sha256((tmp_path / "result.json").read_bytes()).hexdigest()
    text = text_of(Result.read(tmp_path / "result.json").report())
    promise = "Promise: ε = 1; it holds exactly, not only approximately."
    assert f"{promise} SHA-256 of the result file: {digest}" in text


def test_modules_keep_their_names_to_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        "main.js": 'import { one, two } from "./other.js";\nconst own = one + two();\n',
        "other.js": "const own = 1;\nexport const one = own;\nexport function two() {}\n"
        "export class Three {}\n",
    }
    monkeypatch.setattr(bundle, "_read", lambda name, _: sources[name])
    script = bundle.script()
    assert "const { one, two } = otherModule;" in script
    assert "return { one, two, Three };" in script
    assert script.index("const otherModule") < script.index("const mainModule")
    assert "import " not in script
    assert "export " not in script


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('import "./main.js";\n', "cannot be put into a page"),
        ("export default 1;\n", "cannot be put into a page"),
        ('import { a } from "./main.js";\n', "imports itself"),
    ],
)
def test_modules_that_do_not_fit_are_refused(
    monkeypatch: pytest.MonkeyPatch, source: str, problem: str
) -> None:
    monkeypatch.setattr(bundle, "_read", lambda *_: source)
    with pytest.raises(RedveilError, match=problem):
        bundle.script()


def test_every_module_is_in_the_page() -> None:
    folder = Path(bundle.__file__).parent
    script = bundle.script()
    assert [
        one.stem for one in folder.glob("*.js") if f"const {one.stem}Module" not in script
    ] == []


def test_what_is_confirmed_and_how_the_list_was_made_is_said() -> None:
    entries = redescription(confirmed=True), redescription("x", confirmed=False)
    known = DiscoveryPart(bound=0.52, confirmed=1, comparable=32.0)
    made = document(*entries).model_copy(update={"false_discoveries": known})
    text = text_of(page(made))
    assert "Confirmed 1 of 2" in text
    assert "✓ confirmed" in text
    assert "○ not confirmed : for this pair alone clearly more than chance, but the best" in text
    assert "no confirmed finding is a coincidence. The others are not confirmed" in text
    assert "1 of the 2 findings is confirmed: too strong for a coincidence" in text
    again = mined_clinic(algorithm="twin", trials=3).filter(max_support=0.5)
    assert "Listed again from released tables, at no cost" in text_of(again.report())


@pytest.mark.parametrize(
    ("confirmed", "reported", "said"),
    [
        (2, 2, "All 2 findings are confirmed: too strong for a coincidence, even as the best"),
        (1, 1, "The finding is confirmed: too strong"),
        (0, 2, "None of the 2 findings is confirmed: with this much noise, the best of up"),
        (0, 1, "The finding is not confirmed: with this much noise"),
    ],
)
def test_how_many_are_confirmed_is_a_sentence(confirmed: int, reported: int, said: str) -> None:
    known = DiscoveryPart(bound=0.02, confirmed=confirmed, comparable=32.0)
    made = document(*(redescription() for _ in range(reported)))
    text = text_of(page(made.model_copy(update={"false_discoveries": known})))
    assert said in text
    sure = "instead. In at least 98 of 100 runs, no confirmed finding is a coincidence."
    assert (sure in text) == (confirmed == reported)


def test_facts_of_the_certificate_have_one_name_each() -> None:
    html = page(document(redescription()))
    table = html.partition('class="facts"')[2].partition("</table>")[0]
    names = re.findall(r'<th scope="row">(.*?)</th>', table)
    assert all(names)
    assert len(names) == len(set(names))


def test_without_a_noisy_number_of_entities_the_table_tells_it() -> None:
    made = document(redescription("gout")).model_copy(update={"entities": None})
    total = sum(map(sum, made.tree_pairs[0].leaf_table.fitted))
    assert Teller(made).total == total
    assert f"about {total:,.0f} patients in all" in text_of(page(made))
    bare = made.model_copy(update={"tree_pairs": (), "redescriptions": ()})
    assert "There are the patients in all" not in text_of(page(bare))


def test_both_given_queries_are_told() -> None:
    both = GivenPart(left=query_part(boolean("gout")), right=query_part(boolean("acid")))
    assert "Those with gout and acid were looked at" in told(algorithm="refine", given=both)


def test_one_answer_is_one() -> None:
    assert "The search found one pair: its descriptions " in told()
    gout = GivenPart(left=query_part(boolean("gout")))
    assert "The search found one answer: its descriptions " in told(
        algorithm="describe", given=gout
    )


def test_a_detail_says_what_it_adds_to() -> None:
    story, other = redescription("gout", "acid"), redescription("asthma", "cough")
    detail = redescription("asthma", "cough").model_copy(update={"detail": 2})
    doubt = redescription("x", "y", confirmed=False)
    made = document(story, other, detail, doubt)
    assert parts(made) == [Part(DETAILS, 3), Part(DOUBTS, 4)]
    written = page(made)
    assert '↳ adds to <a href="#finding-2">finding 2</a>' in written
    assert written.index(DETAILS) < written.index('id="finding-3"') < written.index(f">{DOUBTS}<")
    assert "then come details of single findings; what is not" in text_of(written)
    assert "↳ adds to 2: Of about" in text_of(compact(made))


def test_a_list_in_another_order_has_no_headings() -> None:
    detail = redescription().model_copy(update={"detail": 2})
    assert parts(document(detail, redescription("x", "y"))) == []
    assert parts(document(detail)) == []


def alike(corrected: float, *, confirmed: bool | None = True) -> RedescriptionPart:
    index = interval(corrected, corrected - 0.1, 1.0)
    return redescription(confirmed=confirmed).model_copy(update={"corrected": index})


def test_words_follow_the_corrected_index() -> None:
    entries = alike(0.8), alike(0.6), alike(0.3), alike(0.76), alike(0.6, confirmed=False)
    text = text_of(page(document(*entries)))
    assert (
        "The search found five pairs: two fit nearly the same patients; one fits largely the same "
        "patients; one overlaps more than by chance; one is not confirmed." in text
    )
    for words in ("fit nearly", "fit largely", "overlap more than", "may fit largely"):
        assert words in text
    assert "found one pair: it is not confirmed." in text_of(
        page(document(alike(0.6, confirmed=False)))
    )
    assert "overlap no more than by chance" in text_of(page(document(alike(-0.1))))


def test_a_promise_says_how_strong_it_is_at_the_top() -> None:
    assert "ε = 1 means: with any one patient in the data or without, every possible page" in told()
    assert "is at most 2.72 times as likely as otherwise. So even someone who knows" in told()
    # e / (1 + e) is 73.1 %, and "at most" must be true.
    assert "can be at most 74 % sure after reading this page" in told()
    assert "% sure" not in told(epsilon="20")
    approximate = told(delta="1/1000000")
    assert "as likely as otherwise, but for a probability of about δ." in approximate
    assert "% sure" not in approximate


def test_words_beside_the_list_are_explained_beside_the_list() -> None:
    over = redescription(confirmed=True).model_copy(
        update={"jaccard": interval(0.5, 0.4, 0.6), "corrected": interval(0.4, 0.2, 0.8)}
    )
    text, plain = text_of(page(document(over))), text_of(page(document(alike(0.5, confirmed=None))))
    assert "Jaccard index : of the patients that fit either description, the share" in text
    assert "confirmed : too strong for a coincidence, as tested on these same patients" in text
    assert "may end higher than that of the index" in text
    assert "confirmed : too strong" not in plain


def test_a_confirmation_tells_of_other_entities_only_if_the_owner_vouches_for_them() -> None:
    ids = {"schema_id": "new", "earlier": ("old",)}
    vouched = "the patients are others than those that the list was found on, or nothing is …"
    same = confirmation()
    another = confirmation(**ids)
    sure = confirmation(**ids, others=True, conditions=(vouched,))
    assert "measured again, on about 1,000 patients, possibly the same ones, in" in same
    assert "measured again, on about 1,000 patients of another data set, in" in another
    assert "measured again, on about 1,000 other patients, in" in sure
    assert "as tested on possibly the same patients" in same
    assert "as tested on patients of another data set, who may be the same" in another
    assert "as tested on patients who are others, as the owner vouches" in sure
    for text in (same, another):
        assert "holds only if these patients are others than those that the list was found" in text
        assert "nobody has vouched for that" in text
        assert "All of this holds only if they are others. In at least 98 of 100 runs" in text
        assert "about 1,000 other patients" not in text
    assert "nobody has vouched" not in sure
    assert "none of the patients here are among those that the list was found on" in sure


def confirmation(**certificate: Any) -> str:
    """Return the text of the page of a confirmed list."""
    known = DiscoveryPart(comparable=0.3, confirmed=1, bound=0.02)
    made = document(redescription(confirmed=True))
    changed = CERTIFICATE.model_copy(update={"algorithm": "confirm", **certificate})
    return text_of(
        page(made.model_copy(update={"certificate": changed, "false_discoveries": known}))
    )
