// Names the release of this relay: the version that all packages of the workspace share.

import relayPackage from '../package.json' with { type: 'json' }

export const RELEASE_VERSION: string = relayPackage.version
