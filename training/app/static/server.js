// Requests to the server. On the static site engine/backend.js answers them.

// Returns the response's JSON. Throws an Error with the server's reason. A `body` makes it a POST, and a search ends
// when `signal` is aborted.
export const request = async (path, body, signal = null) => {
  const options = body === undefined ? { signal } : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is checkers-play still running?");
  }
  const json = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(json.error ?? `The server answered with status ${response.status}.`);
  return json;
};
