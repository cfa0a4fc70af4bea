from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console, RenderableType

from redveil.report.document import DiscoveryPart, StepPart
from redveil.report.text import p_text, result_view, steps_table
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
def test_so_is_everything_else_that_a_file_can_say(name: str) -> None:
    texts = ("unit", "neighbouring", "algorithm", "software", "schema_name", "schema_digest")
    certificate = CERTIFICATE.model_copy(
        update={
            **dict.fromkeys(texts, name),
            "conditions": (name,),
            "steps": (StepPart(name=name, mechanism="count", epsilon="1"),),
        }
    )
    shown = document(certificate=certificate, message=name, warning=name)
    assert seen(result_view(shown, steps=True)).count(name) == len(texts) + 4


def test_a_table_the_certificate_and_the_noisy_size_are_shown() -> None:
    text = seen(result_view(document(redescription(), redescription("gout"))))
    assert "0.50 [0.25, 0.75]" in text
    assert "1,234 [1,200, 1,268]" in text
    assert "1e-30" in text
    assert "ε = 1, exact, δ = 0" in text
    assert "2 steps that add up to exactly 1" in text
    assert "1,000 [990, 1,010] (noisy)" in text
    assert "each patient has one row a view" in text
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["1", "2"]
    assert "true J" not in text


def test_only_a_run_without_delta_is_shown_as_pure() -> None:
    steps = (StepPart(name="table", mechanism="count", rho="1/50"),)
    update = {"delta": "1/1000000", "rho": "1/50", "steps": steps}
    text = seen(result_view(document(certificate=CERTIFICATE.model_copy(update=update))))
    assert "ε = 1, δ = 1e-06, exact" in text
    assert "δ = 0" not in text


def test_the_noisy_size_is_left_out_when_nothing_was_measured() -> None:
    nothing = document().model_copy(update={"entities": None})
    assert "(noisy)" not in seen(result_view(nothing))


def test_an_empty_result_shows_its_message_and_no_table() -> None:
    text = seen(result_view(document(message="Nothing holds up against the noise.")))
    assert text.startswith("Nothing holds up against the noise.")
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
    assert [line.split() for line in lines] == [
        ["step", "mechanism", "ε"],
        ["tree", "choose", "1/3"],
        ["table", "count", "2/3"],
        ["sum", "1"],
    ]
    listed = seen(result_view(document(), steps=True))
    assert "table" in listed
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
def test_what_may_be_chance_is_marked(width: int) -> None:
    known = DiscoveryPart(bound=0.39, surviving=2, searched=9.0, doubtful=(1,))
    three = document(redescription("a"), redescription("b"), redescription("c"))
    lines = seen(
        result_view(three.model_copy(update={"false_discoveries": known}), width=width)
    ).splitlines()
    numbers = [found[1] for line in lines if (found := re.match(r" *([123]\??) ", line))]
    assert numbers == ["1", "2?", "3"]
    assert any(line.rstrip().endswith("those marked ? may be chance") for line in lines)
    sure = known.model_copy(update={"doubtful": ()})
    text = seen(result_view(three.model_copy(update={"false_discoveries": sure}), width=width))
    assert "?" not in text


@pytest.mark.parametrize("width", [100, 200])
def test_the_index_by_chance_stands_beside_the_index(width: int) -> None:
    shown = seen(result_view(document(redescription()), width=width))
    assert "by chance" in shown
    assert "0.03" in shown


def test_a_start_alone_is_called_so() -> None:
    parameters = {**CERTIFICATE.parameters, "alternations": 0}
    update = {"algorithm": "alt-expm", "parameters": parameters}
    shown = seen(result_view(document(certificate=CERTIFICATE.model_copy(update=update))))
    assert "alt-expm, its private start alone (hardened)" in shown
    assert "start alone" not in seen(result_view(document()))
