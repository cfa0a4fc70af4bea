"""Raw files as publishers write them, small: what becomes of them, entity by entity."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

import redveil
from redveil.errors import InputError
from redveil_research.preparation import cms, npas
from redveil_research.preparation.cms import prepare_cms
from redveil_research.preparation.mammals import prepare_mammals
from redveil_research.preparation.mimic import prepare_mimic
from redveil_research.preparation.npas import prepare_npas
from redveil_research.preparation.prepared import Prepared

Records = list[dict[str, str]]


def write_table(
    path: Path, header: Sequence[str], records: Iterable[dict[str, object]], delimiter: str = ","
) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, restval="", delimiter=delimiter)
        writer.writeheader()
        writer.writerows(records)


def finished(prepared: Prepared, folder: Path) -> tuple[Records, Records]:
    """Write what was prepared, load it under its schema, and return both tables."""
    prepared.write(folder)
    files = folder / "left.csv", folder / "right.csv"
    schema = redveil.Schema.read(folder / "datapackage.json")
    assert schema.status == "declared"
    report = redveil.load_report(redveil.load(*files, schema, strict=True))
    left, right = (
        list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) for path in files
    )
    assert report.joined == len({one["id"] for one in left} & {one["id"] for one in right})
    return left, right


# --- CMS ---------------------------------------------------------------------------------------

SUMMARY = (
    *("DESYNPUF_ID", "BENE_BIRTH_DT", "BENE_DEATH_DT", "BENE_SEX_IDENT_CD", "BENE_RACE_CD"),
    *("BENE_ESRD_IND", "SP_STATE_CODE", *cms.MONTHS, *(f"SP_{one}" for one in cms.CONDITIONS)),
    *cms.TOTALS,
)
CCS = """\
'ICD-9-CM CODE','CCS LVL 1','CCS LVL 1 LABEL','CCS LVL 2','CCS LVL 2 LABEL','CCS LVL 3'
'0100 ','1',"Infectious and parasitic diseases",'1.1',"Bacterial infection",'1.1.1'
'25000','3',"Endocrine; nutritional; and metabolic diseases",'3.2',"Diabetes, plain",'3.2.1'
'E8859','18',"Residual codes",' '," ",' '
"""


def summary(identifier: str, **given: object) -> dict[str, object]:
    usual: dict[str, object] = dict.fromkeys((*cms.MONTHS, *cms.TOTALS), 0)
    usual |= {f"SP_{one}": 2 for one in cms.CONDITIONS}
    usual |= {"BENE_BIRTH_DT": 19360901, "BENE_SEX_IDENT_CD": 2, "BENE_RACE_CD": 1}
    return {"DESYNPUF_ID": identifier, "BENE_ESRD_IND": 0, **usual, **given}


@pytest.fixture
def medicare(tmp_path: Path) -> Path:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "ccs_multi_dx_tool_2015.csv").write_text(CCS, encoding="utf-8")
    stays = {"0A": {"SP_CHF": 1, "MEDREIMB_IP": 4000}, "1B": {"BENE_RACE_CD": 5}}
    for year in cms.YEARS:
        people = [summary(key, **given) for key, given in stays.items()]
        if year == "2008":
            # Died in 2008, so there are no later summaries.
            gone = {"BENE_DEATH_DT": 20080601, "BENE_ESRD_IND": "Y", "BENE_SEX_IDENT_CD": 1}
            people.append(summary("F0", **gone))
        name = f"DE1_0_{year}_Beneficiary_Summary_File_Sample_2.csv"
        write_table(raw / name, SUMMARY, people)
    inpatient = next(kind for kind in cms.CLAIMS if kind.name == "IP")
    columns = ("DESYNPUF_ID", "CLM_ID", "CLM_THRU_DT", *inpatient.amounts)
    codes = ("ADMTNG_ICD9_DGNS_CD", "ICD9_DGNS_CD_1", "ICD9_DGNS_CD_2")
    claims: list[dict[str, object]] = [
        {
            "DESYNPUF_ID": "0A",
            "CLM_THRU_DT": 20081231,
            "CLM_PMT_AMT": 4000,
            "ICD9_DGNS_CD_1": "0100",
        },
        {
            "DESYNPUF_ID": "0A",
            "CLM_THRU_DT": 20081231,
            "CLM_PMT_AMT": 0.5,
            "ICD9_DGNS_CD_2": "25000",
        },
        {"DESYNPUF_ID": "0A", "CLM_THRU_DT": 20100101, "CLM_UTLZTN_DAY_CNT": 3},
        {"DESYNPUF_ID": "0A", "CLM_THRU_DT": ""},
        {"DESYNPUF_ID": "0C", "CLM_THRU_DT": 20080101},
        {"DESYNPUF_ID": "F0", "CLM_THRU_DT": 20080101, "ADMTNG_ICD9_DGNS_CD": "E8859"},
    ]
    codes = ("ADMTNG_ICD9_DGNS_CD", "ICD9_DGNS_CD_1", "ICD9_DGNS_CD_2")
    write_table(
        raw / "DE1_0_2008_to_2010_Inpatient_Claims_Sample_2.csv", (*columns, *codes), claims
    )
    carrier = next(kind for kind in cms.CLAIMS if kind.name == "CAR")
    amounts = [f"{name}_{line}" for name in carrier.amounts for line in range(1, 14)]
    for part, day in (("A", 20090101), ("B", 20090701)):
        record: dict[str, object] = {"DESYNPUF_ID": "1B", "CLM_THRU_DT": day}
        record |= {
            "LINE_NCH_PMT_AMT_1": 10,
            "LINE_NCH_PMT_AMT_13": 7,
            "LINE_ICD9_DGNS_CD_2": "25000",
        }
        header = ("DESYNPUF_ID", "CLM_THRU_DT", "LINE_ICD9_DGNS_CD_2", *amounts)
        write_table(raw / f"DE1_0_2008_to_2010_Carrier_Claims_Sample_2{part}.csv", header, [record])
    return raw


def test_beneficiaries_have_what_their_own_files_say(medicare: Path, tmp_path: Path) -> None:
    prepared = prepare_cms(medicare)
    left, right = finished(prepared, tmp_path / "out")
    ann, bob, cyd = left
    assert [one["id"] for one in left] == ["0A", "1B", "F0"]
    assert (ann["birth_year"], ann["female"], ann["race"], ann["died"]) == (
        "1936",
        "1",
        "white",
        "0",
    )
    assert (bob["race"], cyd["female"], cyd["esrd"], cyd["died"]) == ("hispanic", "0", "1", "1")
    assert (ann["chr_CHF_2008"], ann["chr_CNCR_2010"], cyd["chr_CHF_2009"]) == ("1", "0", "")
    diagnosed = {
        one["id"]: {name for name, value in one.items() if name.startswith("dx_") and value == "1"}
        for one in left
    }
    # Without a second level, the first one is the group.
    assert diagnosed == {
        "0A": {"dx_1.1_2008", "dx_3.2_2008"},
        "1B": {"dx_3.2_2009"},
        "F0": {"dx_18_2008"},
    }
    ann, bob, cyd = right
    assert (ann["MEDREIMB_IP_2008"], cyd["MEDREIMB_IP_2009"]) == ("4000", "")
    assert (ann["IP_CLM_PMT_AMT_2008"], ann["IP_CLAIMS_2008"]) == ("4000.50", "2")
    assert (ann["IP_CLM_UTLZTN_DAY_CNT_2010"], ann["IP_CLM_UTLZTN_DAY_CNT_2008"]) == ("3", "0")
    assert (bob["CAR_LINE_NCH_PMT_AMT_2009"], bob["CAR_CLAIMS_2009"]) == ("34", "2")
    # There are no files of outpatient claims, so there are no columns of them.
    assert not [name for name in ann if name.startswith(("OP_", "PDE_"))]
    assert prepared.notes == ("2 IP claims of no year or beneficiary are left out",)
    titles = {one.name: one.title for one in prepared.schema.left.attributes}
    assert titles["dx_3.2_2009"] == "Diabetes, plain, 2009"


@pytest.mark.parametrize(("segments", "keys"), [(1, ["0A"]), (2, ["0A", "1B"]), (15, ["0A", "1B"])])
def test_segments_go_by_the_first_digit(
    medicare: Path, tmp_path: Path, segments: int, keys: list[str]
) -> None:
    left, right = finished(prepare_cms(medicare, segments), tmp_path / "out")
    assert [one["id"] for one in left] == [one["id"] for one in right] == keys


def test_the_schema_does_not_depend_on_the_beneficiaries(medicare: Path) -> None:
    assert prepare_cms(medicare, 1).schema.digest == prepare_cms(medicare, 16).schema.digest


def test_bad_medicare_files_are_refused(medicare: Path) -> None:
    with pytest.raises(InputError, match="segments must be a whole number from 1 to 16"):
        prepare_cms(medicare, 17)
    path = medicare / "DE1_0_2009_Beneficiary_Summary_File_Sample_2.csv"
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace("1B", "x?"), encoding="utf-8")
    with pytest.raises(InputError, match="line 3: DESYNPUF_ID is not hexadecimal"):
        prepare_cms(medicare)
    path.unlink()
    with pytest.raises(InputError, match="no file such as DE1_0_2009_Beneficiary_Summary_File"):
        prepare_cms(medicare)
    (medicare / "ccs_multi_dx_tool_2015.csv").write_text(CCS.replace("'0100 '", "' '"))
    with pytest.raises(InputError, match="line 2: no code or no group"):
        prepare_cms(medicare)


def test_an_unknown_race_is_refused(medicare: Path) -> None:
    path = medicare / "DE1_0_2010_Beneficiary_Summary_File_Sample_2.csv"
    write_table(path, SUMMARY, [summary("0A", BENE_RACE_CD=9)])
    with pytest.raises(InputError, match="line 2: BENE_RACE_CD has no code '9'"):
        list(prepare_cms(medicare).left)


# --- NPAS --------------------------------------------------------------------------------------

ANSWERS = (*npas.QUESTIONS, *npas.TRAITS, *npas.VOCABULARY, *npas.TIMES)
BACKGROUND = (*(one["name"] for one in npas.NUMBERS), *npas.CODES, *npas.WORDS)


def respondent(**given: object) -> dict[str, object]:
    usual: dict[str, object] = dict.fromkeys(npas.QUESTIONS, 3)
    usual |= dict.fromkeys(npas.TRAITS, 7)
    usual |= dict.fromkeys(npas.VOCABULARY, 1) | dict.fromkeys(npas.TIMES, 60)
    usual |= dict.fromkeys(npas.CODES, 2) | {"country": "US", "major": " Psychology "}
    usual |= {"education": 4, "age": 38, "screenw": 800, "screenh": 600, "familysize": 2}
    return usual | given


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_respondents_are_put_into_words(tmp_path: Path, delimiter: str) -> None:
    people = [
        respondent(religion=8, gender=1, VCL6=0),
        respondent(Q3=0),
        respondent(married=0),
        respondent(religion=6, country="FR", major="nothing much", race=4),
    ]
    write_table(tmp_path / "data.csv", (*BACKGROUND, *ANSWERS), people, delimiter)
    prepared = prepare_npas(tmp_path)
    left, right = finished(prepared, tmp_path / "out")
    assert prepared.notes == ("2 respondents left a question out, and are left out",)
    assert [one["id"] for one in left] == [one["id"] for one in right] == ["r00001", "r00004"]
    first, last = left
    assert (first["religion"], first["gender"], first["ASD"]) == ("other faith", "male", "no")
    assert (first["country"], first["major"], first["age"]) == ("US", "psychology", "38")
    assert (last["religion"], last["country"], last["major"]) == ("protestant", "other", "other")
    assert last["race"] == "white or indigenous"
    assert (right[0]["Q3"], right[0]["VCL6"], right[1]["VCL6"]) == ("3", "0", "1")


def test_other_releases_have_other_columns(tmp_path: Path) -> None:
    header = [one for one in (*BACKGROUND, *ANSWERS) if one not in ("race", "ASD", "country")]
    people = [respondent(race_white=1, nerdy=7)]
    for one in people:
        del one["race"], one["ASD"], one["country"]
    write_table(tmp_path / "data.csv", [*header, "race_white", "race_other", "nerdy"], people)
    left, right = finished(prepare_npas(tmp_path), tmp_path / "out")
    assert (left[0]["race_white"], left[0]["race_other"], right[0]["nerdy"]) == ("1", "0", "7")
    assert "country" not in left[0]


def test_a_code_that_is_in_no_code_book_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path / "data.csv", (*BACKGROUND, *ANSWERS), [respondent(hand=4)], "\t")
    with pytest.raises(InputError, match=r"data\.csv, line 2: hand has no code '4'"):
        prepare_npas(tmp_path)
    write_table(tmp_path / "data.csv", (*BACKGROUND, *ANSWERS), [respondent(age="old")], "\t")
    with pytest.raises(InputError, match=r"data\.csv, line 2: 'old' is not a number"):
        prepare_npas(tmp_path)


# --- MIMIC -------------------------------------------------------------------------------------


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    raw = tmp_path / "raw"
    raw.mkdir()
    write_table(
        raw / "D_ICD_DIAGNOSES.csv",
        ("ROW_ID", "ICD9_CODE", "SHORT_TITLE", "LONG_TITLE"),
        [
            {"ICD9_CODE": "25000", "LONG_TITLE": "Diabetes, plain"},
            {"ICD9_CODE": "042", "LONG_TITLE": "Human immunodeficiency virus [HIV] disease"},
            {"ICD9_CODE": "E8859", "LONG_TITLE": "Fall"},
            {"ICD9_CODE": "25001", "LONG_TITLE": "Diabetes, type I"},
        ],
    )
    write_table(
        raw / "D_LABITEMS.csv",
        ("ROW_ID", "ITEMID", "LABEL", "FLUID"),
        [{"ITEMID": 50800, "LABEL": "SPECIMEN TYPE"}, {"ITEMID": 51301, "LABEL": "WHITE CELLS"}],
    )
    diagnoses = [(7, "25001"), (7, "E8859"), (8, "042"), (8, "99999"), (9, "25000")]
    write_table(
        raw / "DIAGNOSES_ICD.csv",
        ("ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"),
        [{"SUBJECT_ID": patient, "ICD9_CODE": code} for patient, code in diagnoses],
    )
    events = [(7, 51301, ""), (7, 51301, "abnormal"), (7, 51301, ""), (8, 50800, "delta")]
    write_table(
        raw / "LABEVENTS.csv",
        ("ROW_ID", "SUBJECT_ID", "HADM_ID", "ITEMID", "CHARTTIME", "VALUE", "FLAG"),
        [{"SUBJECT_ID": p, "ITEMID": item, "FLAG": flag} for p, item, flag in events],
    )
    return raw


def test_patients_have_their_diagnoses_and_labs(hospital: Path, tmp_path: Path) -> None:
    prepared = prepare_mimic(hospital)
    left, right = finished(prepared, tmp_path / "out")
    assert left == [
        {"id": "7", "icd9_042": "0", "icd9_250": "1", "icd9_E885": "1"},
        {"id": "8", "icd9_042": "1", "icd9_250": "0", "icd9_E885": "0"},
        {"id": "9", "icd9_042": "0", "icd9_250": "1", "icd9_E885": "0"},
    ]
    assert right == [
        {"id": "7", "lab_50800": "-1", "lab_51301": "1"},
        {"id": "8", "lab_50800": "0", "lab_51301": "-1"},
    ]
    assert prepared.notes == ("1 diagnoses without a code of the dictionary are left out",)
    titles = [one.title for one in prepared.schema.left.attributes]
    assert titles == ["Human immunodeficiency virus [HIV] disease", "", ""]


def test_bad_hospital_files_are_refused(hospital: Path) -> None:
    path = hospital / "LABEVENTS.csv"
    path.write_text(path.read_text().replace(",8,,50800", ",,,50800"))
    with pytest.raises(InputError, match=r"LABEVENTS\.csv, line 5: no SUBJECT_ID"):
        prepare_mimic(hospital)
    (hospital / "D_ICD_DIAGNOSES.csv").write_text("ROW_ID,ICD9_CODE,LONG_TITLE\n")
    with pytest.raises(InputError, match="no codes; download"):
        prepare_mimic(hospital)


# --- MAMMAL ------------------------------------------------------------------------------------

FAUNA = {
    "mammals.names": "Moose\nHouse mouse\nHouse mouse\n",
    "mammals.datbool": "2\t3\t0\n1\t1\t1\n2\t3\t1\n",
    "worldclim_tp.names": "t\\u2081\\u207B\nt\\u2081\\u2082\\u207C\np\\u2083\\u207C\n",
    "worldclim_tp.densenum": "10.6 -8.3\n9.9 -7.6\n120 7\n",
}


def write_fauna(folder: Path, **changed: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in FAUNA.items():
        given = changed.get(name.replace(".", "_"), text)
        (folder / name).write_text(given, encoding="utf-8")
    return folder


def test_cells_have_their_species_and_climate(tmp_path: Path) -> None:
    prepared = prepare_mammals(write_fauna(tmp_path / "raw"))
    left, right = finished(prepared, tmp_path / "out")
    assert left == [
        {"id": "cell0001", "Moose": "1", "House mouse": "0", "House mouse (2)": "0"},
        {"id": "cell0002", "Moose": "0", "House mouse": "0", "House mouse (2)": "1"},
    ]
    assert right == [
        {"id": "cell0001", "t1-": "10.6", "t12~": "9.9", "p3~": "120"},
        {"id": "cell0002", "t1-": "-8.3", "t12~": "-7.6", "p3~": "7"},
    ]
    titles = [one.title for one in prepared.schema.right.attributes]
    assert titles[0] == "Minimum temperature, month 1 (°C)"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mammals_names", "Moose\n\nOtter\n", r"mammals\.names, line 2: no name"),
        ("mammals_datbool", "2\t4\t0\n", "line 1: 4 species, but 3 names"),
        ("mammals_datbool", "2\t3\t0\n3\t1\t1\n", "line 2: no such cell and species"),
        ("mammals_datbool", "2\t3\t0\n1\t1\n", "line 2: three whole numbers expected"),
        ("mammals_datbool", "", "line 1: 0 species, but 3 names"),
        ("mammals_datbool", "3\t3\t0\n", "3 cells with species, 2 with climate"),
        ("worldclim_tp_densenum", "1 2\n1 x\n1 2\n", "line 2: numbers expected"),
        ("worldclim_tp_densenum", "1 2\n1\n1 2\n", "line 2: 1 cells, expected 2"),
        ("worldclim_tp_densenum", "1 2\n", "1 lines, but 3 names"),
    ],
)
def test_bad_fauna_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        prepare_mammals(write_fauna(tmp_path / "raw", **{name: text}))
    assert "\n" not in str(caught.value)


# --- all of them -------------------------------------------------------------------------------


def drop(lines: list[str], word: str) -> list[str]:
    return [line for line in lines if word not in line]


@pytest.mark.parametrize(
    ("fixture", "prepare", "gone", "word"),
    [("medicare", prepare_cms, "1B", "1B,"), ("hospital", prepare_mimic, "8", ",8,")],
)
def test_entities_do_not_depend_on_each_other(
    fixture: str,
    prepare: Callable[[Path], Prepared],
    gone: str,
    word: str,
    request: pytest.FixtureRequest,
) -> None:
    raw: Path = request.getfixturevalue(fixture)
    before = prepare(raw)
    expected = [[row for row in rows if row[0] != gone] for rows in (before.left, before.right)]
    for path in raw.iterdir():
        if not path.name.startswith(("D_", "ccs_")):
            kept = drop(path.read_text(encoding="utf-8").splitlines(keepends=True), word)
            path.write_text("".join(kept), encoding="utf-8")
    after = prepare(raw)
    assert [list(after.left), list(after.right)] == expected
    assert after.schema.digest == before.schema.digest
