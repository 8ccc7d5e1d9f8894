// The code of the control plane that most pages never need, as one chunk that is loaded on demand.

export { parseDedicatedPorts } from './dedicated-ports.ts'
export { prepareRenewal } from './previous-owner.ts'
export { withLessMetadata } from './trim-metadata.ts'
export { readVisitorAddress } from './visitor-address.ts'
