"""Training regimes of the papers: one file each, which reads like the paper's method section.

- bootstrap: a small network that learns the search values of self-play, in rounds
- coevolution: Blondie24's (mu + mu) evolution (1999, 2001) and the thesis's C0
- coevolution_extended: coevolution with recombination, openings, a hall of fame, leagues
- social_learning: the thesis's individual and social learning (C10 ...)
- genetic_algorithm: Nguyen's elites, crossover and safe mutation
- evolution_strategies: OpenAI-ES and separable CMA-ES in self-play
- tournament_play: what the regimes of tournaments share
- self_play: what the regimes of self-play share
- td_learning: temporal differences and TD-leaf

A new regime is one file here, whose class has the :func:`register` decorator, and one preset.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from numpy.typing import NDArray

from agents.weights import WeightsMetadata
from checkers_env.state import DrawRules
from training.evolution.game_runner import GameRunner
from training.evolution.metrics import Metrics
from training.evolution.state import Champion, State


class Regime(Protocol):
    """A method of training: a frozen dataclass whose fields are the constants of the method.

    The trainer calls :meth:`init` once and :meth:`step` once a generation. Both are functions of
    their arguments: all chance is drawn from the generator in the state. Equal constants and equal
    seeds give equal states.

    Attributes
    ----------
    kind
        Name of the class in checkpoints; it never changes.
    results_version
        Version of the results: raise it when a change of the code changes what is trained.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    kind: ClassVar[str]
    results_version: ClassVar[int]
    curve_options: ClassVar[tuple[str, ...]] = ()  # of a run: only for the games of the curve

    @property
    def depth(self) -> int:
        """Plies that the champion searches by default."""

    @property
    def root_perspective(self) -> bool:
        """Whether the champion's search judges leaves from the searching player's side."""

    @property
    def parents(self) -> int:
        """Number of players that :meth:`contenders` returns."""

    @property
    def rules(self) -> DrawRules:
        """Draw rules of the games, those of the performance curve included."""

    @property
    def games(self) -> int:
        """Games in a generation."""

    def init(self, seed: int) -> State:
        """Return the state before the first generation."""

    def step(self, state: State, runner: GameRunner) -> tuple[State, Metrics]:
        """Play one generation; return the next state and the metrics. Leave `state` as it is."""

    def metrics(self, state: State) -> Metrics:
        """Summarise the weights of a state, without games."""

    def champion(self, state: State, member: int = 0) -> Champion:
        """Return the content of the weight file of a survivor; 0 is the best."""

    def contenders(self, state: State) -> Sequence[Any]:
        """Return the players of the performance curve, the champion first."""

    def files(self, state: State, metadata: WeightsMetadata) -> Mapping[str, bytes]:
        """Return further files by name, by default none; `metadata` is the champion's."""
        return {}


def make_champion(
    regime: Regime,
    state: State,
    architecture: str,
    genome: NDArray[Any],
    king: float = 1.0,
    *,
    score: float = 0.0,
    **options: Any,
) -> Champion:
    """Return weights, one-dimensional, with the header of their file.

    The trainer adds the preset, the seed and the versions. `score` is that of the last tournament;
    `options` are ``options``, ``search_options`` and ``mcts_options`` of the header.
    """
    header = architecture, king, "", 0, state.generation, regime.depth, regime.root_perspective
    return Champion(genome, WeightsMetadata(*header, **options, extra={"score": score}))


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Constants of a regime whose players search by alpha-beta: what the papers leave open."""

    tie: Literal["first", "last", "chance"] = "first"
    """Which of equally good moves is played: `>` or `>=` over the moves, or equal chances."""
    order: Literal["direction", "piece"] = "direction"
    """Order of the moves: by direction and square, or by piece from the thesis's first corner."""
    ends_at_jump: bool = False
    """Whether a line ends behind a jump, at any depth (a reading of the thesis, 2.6.1.2)."""

    @property
    def search_options(self) -> dict[str, Any]:
        """Settings that differ from their defaults, by name."""
        defaults = asdict(SearchSettings())
        return {
            name: getattr(self, name) for name in defaults if getattr(self, name) != defaults[name]
        }


R = TypeVar("R", bound=Regime)
REGIMES: dict[str, type[Any]] = {}


def register(regime: type[R]) -> type[R]:
    """Make a regime known by its `kind`, so that its checkpoints can be read (class decorator).

    Raises
    ------
    TypeError
        For a class that lacks members of :class:`Regime`.
    ValueError
        For the kind of another class. A class defined again takes the place of the old one.
    """
    members = {name for name in {*Regime.__annotations__, *vars(Regime)} if name[0] != "_"}
    fields = getattr(regime, "__dataclass_fields__", {})
    if missing := sorted(members - {*dir(regime), *fields}):
        raise TypeError(f"the regime {regime.__name__} lacks {', '.join(missing)}")
    known = REGIMES.get(regime.kind, regime)
    if known.__qualname__ != regime.__qualname__:
        raise ValueError(f"the kind {regime.kind!r} is taken by {known.__qualname__}")
    REGIMES[regime.kind] = regime
    return regime


def regimes() -> Mapping[str, type[Any]]:
    """Return the registered regimes by kind, those of this folder included."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return REGIMES


def constants_of(regime: Regime) -> dict[str, Any]:
    """Return a regime's constants for a run's configuration.

    Settings of the search are left out where they have their defaults: a run that began before
    there were such settings can then go on.
    """
    later = asdict(SearchSettings())
    constants = asdict(regime).items()
    return {name: it for name, it in constants if name not in later or it != later[name]}


def regime_from_config(config: Mapping[str, Any]) -> Regime:
    """Return the regime of a run's :attr:`training.trainer.loop.RunConfig.config_key`.

    Raises
    ------
    ValueError
        For a kind that is not registered, and for constants that the regime does not have.
    """
    constants = {name: config[name] for name in config if name not in ("name", "kind", "seed")}
    try:
        regime: Regime = regimes()[config["kind"]](**constants)
    except (KeyError, TypeError):
        raise ValueError(f"{config.get('name')!r} is not a regime of this version") from None
    return regime
