"""Agent specs: kinds, prefixes and options of the texts that name agents."""

import pytest

from agents.agent_spec import AgentSpec


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("strong", "name", "strong"),
        ("C:\\models\\champion.safetensors", "weights", "C:\\models\\champion.safetensors"),
        ("my.py:Mine", "factory", "my.py:Mine"),
        ("package.module:make", "factory", "package.module:make"),
        ("hub:./engine --book a:b.zip", "hub", "./engine --book a:b.zip"),
        ("policy:my.py:first", "policy", "my.py:first"),
        ("continual:pool.safetensors", "continual", "pool.safetensors"),
        ("hub", "name", "hub"),
    ],
)
def test_name_has_a_kind_and_a_target(name, kind, target):
    assert AgentSpec.from_name(name) == AgentSpec(name, kind, target)


def test_only_players_and_weight_files_run_no_code():
    builtin = [it for it in ("strong", "a.safetensors") if AgentSpec.from_name(it).is_builtin]
    others = ("a.zip", "a:b", "hub:a", "dxp:a:1", "policy:a:b", "openspiel:mcts", "continual:a")
    assert len(builtin) == 2
    assert not any(AgentSpec.from_name(it).is_builtin for it in others)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("material@seconds=0.5,endgame=4", "material", {"seconds": 0.5, "endgame": 4}),
        ("me@home/my.py:Mine@nodes=5", "me@home/my.py:Mine", {"nodes": 5}),
        ("material@selective=0", "material", {"selective": False}),
        (
            "my.py:Mine@k2=5,deep=true,rate=0.5,name=tall",
            "my.py:Mine",
            {"k2": 5, "deep": True, "rate": 0.5, "name": "tall"},
        ),
        ("hub:engine --at a@b", "hub:engine --at a@b", {}),
        ("hub:engine@book=false", "hub:engine", {"book": False}),
        ("@depth=6", "@depth=6", {}),
    ],
)
def test_options_follow_an_at_sign(text, name, options):
    spec = AgentSpec.parse(text)
    assert (spec.name, spec.options) == (name, options)
    assert str(spec) == text


def test_path_of_a_file_has_no_options(tmp_path):
    path = tmp_path / "c0@depth=1" / "champion.safetensors"
    path.parent.mkdir()
    path.touch()
    assert AgentSpec.parse(str(path)) == AgentSpec.from_name(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("material@deep=6", "'material@deep=6': options are depth, .*, not 'deep'"),
        ("material@depth=six", "depth is a number, not 'six'"),
        ("material@ends_at_jump=no", "ends_at_jump is 0 or 1, not 'no'"),
    ],
)
def test_wrong_option_raises_an_error(text, message):
    with pytest.raises(ValueError, match=message):
        AgentSpec.parse(text)
