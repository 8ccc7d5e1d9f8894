// The file of each provider exports one function, `open`; this is its type.

import type { Environment } from './credentials.ts'
import type { ApiConnection, ZoneApi } from './zone-api.ts'

/** Reads the credentials. @throws CredentialError that names a missing or invalid variable */
export type OpenApi = (connection: ApiConnection & { env: Environment }) => Promise<ZoneApi>
