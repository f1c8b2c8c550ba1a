"""Self-play in TorchRL, by its wrapper for PettingZoo: one network plays both sides, and learns.

REINFORCE, a game at a time: enough to see what is where. Needs torchrl (0.14 with torch 2.13).
"""

import warnings

import torch
from tensordict.nn import ProbabilisticTensorDictModule, TensorDictModule, TensorDictSequential
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical

import checkers_env

warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested using version")
torch.manual_seed(0)
env = PettingZooWrapper(
    checkers_env.make(opening="two-move"), use_mask=True, categorical_actions=True, seed=0
)
network = torch.nn.Sequential(
    torch.nn.Flatten(-3), torch.nn.Linear(512, 64), torch.nn.Tanh(), torch.nn.Linear(64, 128)
)
modules = []
for side in env.group_map:
    keys = {"logits": (side, "logits"), "mask": (side, "action_mask")}
    modules += [
        TensorDictModule(network, [(side, "observation", "observation")], [keys["logits"]]),
        ProbabilisticTensorDictModule(
            keys, [(side, "action")], distribution_class=MaskedCategorical
        ),
    ]
policy = TensorDictSequential(*modules)
optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)

for number in range(5):
    with torch.no_grad():
        game = env.rollout(1000, policy)
    loss = torch.zeros(())
    for side in env.group_map:
        acted = game[game[side, "mask"].flatten()][side]  # only the side to move has a mask
        result = game["next", side, "reward"].sum()
        chances = MaskedCategorical(
            network(acted["observation", "observation"]), mask=acted["action_mask"]
        )
        loss = loss - result * chances.log_prob(acted["action"]).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    results = [int(game["next", side, "reward"].sum()) for side in env.group_map]
    print(f"game {number}: {len(game)} actions, rewards of Black and White {results}")
