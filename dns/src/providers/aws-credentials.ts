// Credentials of AWS: the keys in the environment, otherwise the SDK's chain of files, web identities and metadata
// services. The only importer of the SDK's package, which is not loaded where keys are in the environment.

import { ApiError, oneLine } from './api-error.ts'
import { type Environment, required } from './credentials.ts'
import { CREDENTIALS_DEADLINE_MS } from './limits.ts'
import { optionalLibrary } from './optional-library.ts'
import { within } from './within.ts'

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

const REASON = 'AWS gives no credentials'

/**
 * @returns a function that returns credentials for the next minutes.
 * @throws CredentialError when only one of the two keys is set
 */
export async function awsCredentials(env: Environment): Promise<() => Promise<AwsCredentials>> {
  if (env.AWS_ACCESS_KEY_ID || env.AWS_SECRET_ACCESS_KEY) {
    const [accessKeyId, secretAccessKey] = required(
      'route53',
      env,
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
    )
    const keys = { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || undefined }
    return async () => keys
  }
  const { defaultProvider } = await optionalLibrary(
    '@aws-sdk/credential-provider-node',
    () => import('@aws-sdk/credential-provider-node'),
  )
  const chain = defaultProvider()
  return async () => {
    try {
      return await within(CREDENTIALS_DEADLINE_MS, chain(), REASON)
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      const why = oneLine((cause as Error).message, [])
      const advice = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role'
      throw new ApiError('unauthorized', `${REASON}: ${why}; ${advice}`, { cause })
    }
  }
}
