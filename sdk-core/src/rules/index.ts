// Traffic rules, for the SDKs that load them when a site has some.

export type { TrafficRules } from './options.ts'
export { parseRules, RULE_NAMES } from './parse.ts'
export { ruledSite, withRules } from './with-rules.ts'
