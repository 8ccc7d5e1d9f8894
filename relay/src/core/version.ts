// Names the release of this relay: the version that all packages of the workspace share. It is written here, because a
// package has its package.json in another place than a program that is one file.

export const RELEASE_VERSION: string = '0.1.0'
