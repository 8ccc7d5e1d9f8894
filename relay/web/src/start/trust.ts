// Finds out whether this browser trusts the relay, without showing a warning: it tries to load something in the background.

/** What `npm start` says of itself. */
export interface Started {
  /** The relay's URL. */
  relay: string
  /** A URL of a site of the relay: a person may have passed the warning of the relay's own host. */
  secure: string
  /** The same name by plain HTTP: whether this device finds it. */
  plain: string
  /** The path of the CA's certificate, as a word of a shell; undefined for readers at another machine. */
  file?: string
}

export type Trust =
  /** It loads the relay. */
  | 'trusted'
  /** It finds the relay, and refuses its certificate. */
  | 'untrusted'
  /** It does not know the name. */
  | 'unresolved'
  /** `npm start` has ended. */
  | 'gone'

/** Of the server that serves the page. */
const STARTED_PATH = '/start.json'
/** Milliseconds for each attempt: on a machine or network of one's own, an answer takes far less. */
const DEADLINE_MS = 5000

/** @throws TypeError when `npm start` has ended */
export async function loadStarted(): Promise<Started> {
  const response = await fetch(STARTED_PATH, { cache: 'no-store' })
  return await response.json()
}

export async function lookForTrust({ secure, plain }: Started): Promise<Trust> {
  if (await loads(secure)) return 'trusted'
  if (!(await loads(STARTED_PATH))) return 'gone'
  return (await loads(plain)) ? 'untrusted' : 'unresolved'
}

/** The answer of another origin cannot be read, and need not be: a connection with a certificate that is not trusted has none. */
async function loads(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS)
    await fetch(url, { mode: 'no-cors', cache: 'no-store', credentials: 'omit', signal })
    return true
  } catch {
    return false
  }
}
