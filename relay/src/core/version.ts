// Names the release of this relay: the version that all packages of the workspace share. It is written here, because
// package.json is in another place in a package than in a single executable.

export const RELEASE_VERSION: string = '0.1.0'
