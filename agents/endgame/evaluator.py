"""Evaluator with endgame tables: the search takes won, drawn and lost endings from them."""

from __future__ import annotations

from typing import Any, NamedTuple

from agents.endgame.probe import probe
from agents.evaluator import (
    advance_state,
    evaluate,
    probe_tablebase,
    start_state,
    state_size,
    value_scale,
)
from checkers_env.jit import KernelArg, kernel
from checkers_env.movegen import Position


class TablebaseEvaluator(NamedTuple):
    """An evaluator for the positions that an endgame tablebase, if it holds any, does not hold."""

    evaluator: Any
    tablebase: Any  # agents.endgame.probe.Tablebase


@kernel
def evaluation_weight(wrapper: TablebaseEvaluator) -> float:
    """Return the weight of an evaluation: half, so that none outweighs a result of the tables."""
    return 0.5 if wrapper.tablebase.indexing.pieces else 1.0


@evaluate.register(TablebaseEvaluator)
def _evaluate_tablebase(
    wrapper: TablebaseEvaluator, position: Position, view: int, state: KernelArg, scratch: KernelArg
) -> float:
    return evaluation_weight(wrapper) * evaluate(wrapper.evaluator, position, view, state, scratch)


@value_scale.register(TablebaseEvaluator)
def _tablebase_value_scale(wrapper: TablebaseEvaluator) -> float:
    return value_scale(wrapper.evaluator) * evaluation_weight(wrapper)


@state_size.register(TablebaseEvaluator)
def _tablebase_state_size(wrapper: TablebaseEvaluator) -> int:
    return state_size(wrapper.evaluator)


@start_state.register(TablebaseEvaluator)
def _start_tablebase_state(
    wrapper: TablebaseEvaluator, position: Position, view: int, state: KernelArg
) -> None:
    start_state(wrapper.evaluator, position, view, state)


@advance_state.register(TablebaseEvaluator)
def _advance_tablebase_state(
    wrapper: TablebaseEvaluator,
    before: Position,
    after: Position,
    view: int,
    old: KernelArg,
    new: KernelArg,
) -> None:
    advance_state(wrapper.evaluator, before, after, view, old, new)


@probe_tablebase.register(TablebaseEvaluator)
def _probe_evaluator_tablebase(wrapper: TablebaseEvaluator, position: Position, over: bool) -> int:
    return 0 if over and wrapper.tablebase.indexing.pieces else probe(wrapper.tablebase, position)
