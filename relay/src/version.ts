// The release that this relay belongs to: the root package's version, which all workspaces share.

import relayPackage from '../package.json' with { type: 'json' }

export const RELEASE_VERSION: string = relayPackage.version
