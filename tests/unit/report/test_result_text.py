from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from redveil.findings.wording import p_text
from redveil.losses.plan import StepKind
from redveil.report.document import DiscoveryPart, StepPart
from redveil.report.text import result_view, steps_table
from redveil.report.wording import all_confirmed, confirmation_text, is_confirmed
from support.results import CERTIFICATE, TRUE, document, redescription

MARKUP = ["[bold]x[/bold]", "[/nothing]", "[link=http://x]y[/link]", ":smile:", "\\[red]"]


def seen(view: RenderableType) -> str:
    console = Console(file=StringIO(), width=200, highlight=False)
    console.print(view)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("name", MARKUP)
def test_attribute_names_that_look_like_markup_are_shown_literally(name: str) -> None:
    one = redescription(name, name)
    text = seen(result_view(document(one)))
    assert text.count(one.left.text) == 2
    assert name.replace("\\", "\\\\") in one.left.text


@pytest.mark.parametrize("name", MARKUP)
@pytest.mark.parametrize("width", [80, 200])
def test_so_are_units(name: str, width: int) -> None:
    certificate = CERTIFICATE.model_copy(update={"unit": name})
    shown = document(redescription(), certificate=certificate)
    assert seen(result_view(shown, width=width)).count(f"{name}s") == 2


@pytest.mark.parametrize("name", MARKUP)
def test_so_is_everything_else_that_a_file_can_say(name: str) -> None:
    texts = (
        "unit",
        "protects",
        "neighbouring",
        "algorithm",
        "software",
        "schema_name",
        "schema_digest",
    )
    certificate = CERTIFICATE.model_copy(
        update={
            **dict.fromkeys(texts, name),
            "conditions": (name,),
            "steps": (
                StepPart(kind=StepKind.LEAF_TABLE, part=name, mechanism="count", epsilon="1"),
            ),
        }
    )
    # The plural of a name ends with an s.
    shown = document(certificate=certificate, message=name, warning=name)
    assert seen(result_view(shown, steps=True)).count(name) == len(texts) + 4


def test_a_table_the_certificate_and_the_noisy_size_are_shown() -> None:
    text = seen(result_view(document(redescription(), redescription("gout"))))
    assert "0.50 [0.25, 0.75]" in text
    assert "0.48 [0.22, 0.74]" in text
    assert "corrected [95 %]" in text
    assert "1,234 [1,200, 1,268]" in text
    assert "1e-30" in text
    assert "ε = 1, δ = 0, exact" in text
    assert "2 steps that add up to exactly 1" in text
    assert "1,000 [990, 1,010] (noisy)" in text
    assert "patients [95 %]" in text
    assert "entities" not in text
    assert "each patient has one row in each view" in text
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["1", "2"]
    assert "true J" not in text


def test_only_a_run_without_delta_is_shown_as_pure() -> None:
    steps = (StepPart(kind=StepKind.LEAF_TABLE, mechanism="count", rho="1/50"),)
    update = {"delta": "1/1000000", "rho": "1/50", "steps": steps}
    text = seen(result_view(document(certificate=CERTIFICATE.model_copy(update=update))))
    assert "ε = 1, δ = 1e-06, exact" in text
    assert "δ = 0" not in text


def test_the_noisy_size_is_left_out_when_nothing_was_measured() -> None:
    nothing = document().model_copy(update={"entities": None})
    assert "(noisy)" not in seen(result_view(nothing))


def test_an_empty_result_shows_its_message_and_no_table() -> None:
    text = seen(result_view(document(message="Nothing satisfies the constraints.")))
    assert text.startswith("Nothing satisfies the constraints.")
    assert "Jaccard" not in text


def test_true_values_come_with_the_warning() -> None:
    found = redescription(true=TRUE), redescription("gout")
    text = seen(result_view(document(*found, warning="NOT PRIVATE: take care")))
    assert text.startswith("NOT PRIVATE: take care")
    assert "true J" in text
    assert "0.625" in text
    assert "0.0013" in text or "0.0012" in text


def test_steps_are_listed_with_exact_prices_and_their_sum() -> None:
    lines = seen(steps_table(CERTIFICATE.steps)).splitlines()
    assert [re.split(r"\s{2,}", line.strip()) for line in lines] == [
        ["step", "mechanism", "ε"],
        ["trial 1, tree 1", "choose", "1/3"],
        ["trial 1, leaf table 1, cells", "count", "2/3"],
        ["sum", "1"],
    ]
    listed = seen(result_view(document(), steps=True))
    assert "leaf table 1, cells" in listed
    assert "2/3" in listed


@pytest.mark.parametrize(
    ("p_value", "text"),
    [
        (0.0, "1e-300"),
        (1e-310, "1e-300"),
        (3.4e-12, "3e-12"),
        (1e-4, "0.0001"),
        (0.0123, "0.012"),
        (1.0, "1"),
    ],
)
def test_p_values_are_short_and_never_zero(p_value: float, text: str) -> None:
    assert p_text(p_value) == text


@pytest.mark.parametrize("width", [80, 200])
def test_what_is_not_confirmed_is_marked(width: int) -> None:
    known = DiscoveryPart(bound=0.35, confirmed=2, comparable=9.0)
    three = document(
        redescription("a", confirmed=True),
        redescription("b", confirmed=False),
        redescription("c", confirmed=True),
    )
    marked = three.model_copy(update={"false_discoveries": known})
    assert [is_confirmed(marked, number) for number in (1, 2, 3)] == [True, False, True]
    assert not all_confirmed(marked)
    text = seen(result_view(marked, width=width))
    # A narrow terminal shows one below the other, so each begins with its number.
    places = [re.search(rf"^ *{number}  ?", text, re.MULTILINE) for number in (1, 2, 3)]
    first, second, third = (found.start() for found in places if found)
    entries = text[first:second], text[second:third], text[third : text.index("confirmed after")]
    assert ["not confirmed" in entry for entry in entries] == [False, True, False]
    assert "the others are not confirmed, and may still be real" in text


@pytest.mark.parametrize("width", [80, 200])
def test_where_all_are_confirmed_nothing_is_marked(width: int) -> None:
    known = DiscoveryPart(bound=0.02, confirmed=2, comparable=9.0)
    confirmed = document(*(redescription(name, confirmed=True) for name in "ab"))
    sure = confirmed.model_copy(update={"false_discoveries": known})
    assert all_confirmed(sure)
    assert "not confirmed" not in seen(result_view(sure, width=width))
    # Nor where noise was not accounted for: nothing was in question.
    two = document(redescription("a"), redescription("b"))
    assert all_confirmed(two)
    assert is_confirmed(two, 1)
    assert "confirmed" not in seen(result_view(two, width=width))


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (
            DiscoveryPart(comparable=18.5, confirmed=3, bound=0.02),
            "3 of 3 confirmed after correcting for up to 10^18 comparable pairs; "
            "at most 2 % false discoveries expected",
        ),
        (
            DiscoveryPart(comparable=32.0, confirmed=2, bound=0.35),
            "2 of 3 confirmed after correcting for up to 10^32 comparable pairs; "
            "the others are not confirmed, and may still be real",
        ),
        (
            DiscoveryPart(comparable=4.0, confirmed=0, bound=1.0),
            "0 of 3 confirmed after correcting for up to 10^4 comparable pairs; "
            "the others are not confirmed, and may still be real",
        ),
    ],
)
def test_false_discoveries_are_bounded_and_never_said_to_be_all(
    known: DiscoveryPart, text: str
) -> None:
    made = document(*[redescription()] * 3)
    assert confirmation_text(made) is None
    assert confirmation_text(made.model_copy(update={"false_discoveries": known})) == text
    assert "100" not in text


@pytest.mark.parametrize("width", [80, 200])
def test_the_corrected_index_stands_beside_the_index(width: int) -> None:
    shown = seen(result_view(document(redescription()), width=width))
    assert "corrected" in shown
    assert shown.index("0.50 [0.25, 0.75]") < shown.index("0.48 [0.22, 0.74]")
    # A list has room for the index expected if unrelated; a table leaves it to queries.
    assert ("expected if unrelated 0.03" in shown) == (width == 80)


def test_a_table_of_120_columns_leaves_room_for_queries() -> None:
    long = document(redescription("a rather long name of an attribute, with many words in it"))
    lines = at_width(result_view(long, width=120), 120)
    assert max(map(len, lines[:4])) <= 120
    assert "…" not in "".join(lines)
    # The name takes four lines at most.
    end = next(number for number, line in enumerate(lines) if line.startswith("Privacy"))
    assert end <= 1 + 4


def test_a_narrow_terminal_shows_the_same_facts() -> None:
    shown = seen(result_view(document(redescription(true=TRUE)), width=80))
    for fact in (
        "1  Jaccard    0.50 [0.25, 0.75] (expected if unrelated 0.03)",
        "   corrected  0.48 [0.22, 0.74]",
        "   patients   1,234 [1,200, 1,268]",
        "   p at most  1e-30",
        "   true       J 0.625, p 0.0013",
    ):
        assert fact in shown


def at_width(view: RenderableType, width: int) -> list[str]:
    console = Console(width=width, file=StringIO(), highlight=False)
    console.print(view)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 60, 80, 119])
def test_labels_and_indents_stay_on_a_narrow_terminal(width: int) -> None:
    long = document(redescription("a rather long name of an attribute, with many words in it"))
    lines = at_width(result_view(long, width=width), width)
    found = lines[: lines.index("Privacy certificate")]
    assert max(map(len, lines)) <= width
    assert {line[3:12].strip() for line in found} - {""} == {
        *("Jaccard", "corrected", "patients", "p at most", "left", "right")
    }
    # What does not fit on a line goes on below its beginning, not below its label.
    assert all(not line[3:14].strip() or line[14:15].strip() for line in found)
    assert "…" not in "".join(lines)


@pytest.mark.parametrize("width", [40, 80])
def test_conditions_are_told_apart_on_a_narrow_terminal(width: int) -> None:
    conditions = ("each patient has one row in each view, and no more", "so do all the others", "c")
    certificate = CERTIFICATE.model_copy(update={"conditions": conditions})
    lines = at_width(result_view(document(certificate=certificate), width=width), width)
    listed = lines[next(n for n, line in enumerate(lines) if line.startswith(" conditions")) :]
    assert [line[13:15] for line in listed if line[13:15].strip()] == ["- "] * 3
    wide = at_width(result_view(document(certificate=certificate), width=160), 160)
    assert not any("- " in line for line in wide)


def test_a_start_alone_is_called_so() -> None:
    parameters = {**CERTIFICATE.parameters, "alternations": 0}
    update = {"algorithm": "alt-expm", "parameters": parameters}
    shown = seen(result_view(document(certificate=CERTIFICATE.model_copy(update=update))))
    assert "alt-expm, private start alone (hardened)" in shown
    assert "start alone" not in seen(result_view(document()))
