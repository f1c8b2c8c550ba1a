"""Agent of your own: it captures what it can and loses little."""
# python training/benchmark.py examples/my_agent.py:MyAgent --against blondie24

from checkers_env import Board, Move


class MyAgent:
    def act(self, board: Board) -> Move:
        return max(board.legal_moves, key=lambda move: self.gain(board, move))

    def gain(self, board: Board, move: Move) -> int:
        board.push(move)
        loss = max((len(reply.captured) for reply in board.legal_moves), default=-99)
        board.pop()
        return len(move.captured) - loss


if __name__ == "__main__":
    print(MyAgent().act(Board()))
