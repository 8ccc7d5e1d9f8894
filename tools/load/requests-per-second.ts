// Sends many small requests at a time, on kept connections, by autocannon.
/// <reference path="./autocannon.d.ts" />
import autocannon from 'autocannon'

/** Seconds after which a request counts as failed. */
const REQUEST_TIMEOUT_S = 10

export interface Load {
  /** Public URL; names under localhost are this machine. */
  url: string
  ca: string
  connections: number
  /** Seconds that it lasts. */
  seconds: number
}

/**
 * @returns answers per second
 * @throws Error when a single request was answered without success, or not at all
 */
export async function requestsPerSecond({ url, ca, connections, seconds }: Load): Promise<number> {
  const { hostname, host, port, pathname } = new URL(url)
  const { errors, timeouts, non2xx, duration, ...result } = await autocannon({
    url: `https://127.0.0.1:${port}${pathname}`,
    headers: { Host: host },
    servername: hostname,
    tlsOptions: { ca },
    timeout: REQUEST_TIMEOUT_S,
    connections,
    duration: seconds,
  })
  const answers = result['2xx']
  if (answers === 0 || errors + timeouts + non2xx > 0)
    throw new Error(`beside ${answers} answers: ${JSON.stringify({ errors, timeouts, non2xx })}`)
  return answers / duration
}
