// The reason phrases of common statuses (RFC 9110 §15), for people who read logs; clients ignore them.

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
}

/** Returns the reason phrase. It is empty for a status that is not listed, as RFC 9112 §4 allows. */
export function reasonPhrase(status: number): string {
  return REASONS[status] ?? ''
}
