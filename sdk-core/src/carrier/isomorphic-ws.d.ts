// Declares the web-standard part of isomorphic-ws, for the import map: its own types import all of Node's.

declare const IsomorphicWebSocket: unknown
export default IsomorphicWebSocket
