// Declares the web-standard part of isomorphic-ws. Its own types import all of Node's. The package's import map picks
// these.

declare const IsomorphicWebSocket: unknown
export default IsomorphicWebSocket
