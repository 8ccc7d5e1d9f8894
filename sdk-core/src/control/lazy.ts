// The code of the control plane that most pages never need, in one file for those that do.

export { parseDedicatedPorts } from './dedicated-ports.ts'
export { prepareRenewal } from './previous-owner.ts'
export { withLessMetadata } from './trim-metadata.ts'
