// Sounds of a game, if the user's setting is on: a knock for a move, two for a capture, a chord for the end.

const KNOCK = 0.07; // seconds
const CHORD = [392, 494, 587];
let context = null; // made at the first sound, since browsers allow none before the user does something

const play = (type, frequency, start, seconds, volume) => {
  const at = context.currentTime + start;
  const [oscillator, gain] = [context.createOscillator(), context.createGain()];
  oscillator.type = type;
  oscillator.frequency.setValueAtTime(frequency, at);
  gain.gain.setValueAtTime(volume, at);
  gain.gain.exponentialRampToValueAtTime(0.001, at + seconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(at);
  oscillator.stop(at + seconds);
};

// Play the sound of a Move, and of the game's end.
export const playMove = ({ captured }, isOver = false) => {
  if (document.documentElement.dataset.sound !== "on") return;
  context ??= new AudioContext();
  play("triangle", 180, 0, KNOCK, 0.5);
  if (captured.length) play("triangle", 130, 0.09, KNOCK, 0.6);
  if (isOver) CHORD.forEach((frequency, index) => play("sine", frequency, 0.2 + 0.09 * index, 0.6, 0.2));
};
