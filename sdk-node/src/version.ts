// The release of `svc`: the version that all packages of the workspace share. It is written here, because a
// package has its package.json elsewhere than a single executable.

export const RELEASE_VERSION: string = '0.1.0'
