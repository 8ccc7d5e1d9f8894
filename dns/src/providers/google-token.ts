// Access tokens of Google Cloud, from a credentials file or the metadata server. The only importer of google-auth-library.

import { GoogleAuth } from 'google-auth-library'
import { ApiError, oneLine } from './api-error.ts'
import { CREDENTIALS_DEADLINE_MS } from './limits.ts'
import { within } from './within.ts'

const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite'
const REASON = 'Google Cloud gives no access token'

export interface GoogleTokens {
  /** A token for the next minutes, from the cache while it is valid. @throws ApiError */
  token(): Promise<string>
  /** The project of the zone. @throws ApiError when the credentials name none */
  projectId(): Promise<string>
}

/**
 * The library looks at GOOGLE_APPLICATION_CREDENTIALS of this process, at the file that `gcloud auth application-default login`
 * writes, and at the metadata server.
 * @param projectId of the zone; without it the library searches for the project of the credentials
 */
export function googleTokens(projectId: string | undefined): GoogleTokens {
  const auth = new GoogleAuth({ scopes: SCOPE, ...(projectId === undefined ? {} : { projectId }) })
  async function ask<T>(question: () => Promise<T | null | undefined>): Promise<T> {
    let cause: unknown
    try {
      const answer = await within(CREDENTIALS_DEADLINE_MS, question(), REASON)
      if (answer != null) return answer
    } catch (error) {
      if (error instanceof ApiError) throw error
      cause = error
    }
    const why = cause instanceof Error ? oneLine(cause.message, []) : 'there is none'
    const advice =
      'GOOGLE_APPLICATION_CREDENTIALS has to name a credentials file, or the machine needs a service account'
    throw new ApiError('unauthorized', `${REASON}: ${why}; ${advice}`, { cause })
  }
  return { token: () => ask(() => auth.getAccessToken()), projectId: () => ask(() => auth.getProjectId()) }
}
