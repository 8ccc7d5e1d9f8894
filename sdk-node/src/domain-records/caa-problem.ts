// CAA records in the presentation format, for the judge that the site has, too (sdk-core/src/domains/protection.ts).

import { caaParts } from '@svc/dns/providers'
import { type CaaAnswer, caaAccount, caaAnswer, caaProblem } from '@svc/sdk-core'

/** The accounts that wanted records name. */
export function accountsIn(wanted: readonly string[]): ReturnType<typeof caaAccount>[] {
  return (answerOf(wanted).issue ?? []).map(caaAccount)
}

/** What records of one name say; of one that is no alias unless told. */
export function answerOf(values: readonly string[], isAlias = false): CaaAnswer {
  const properties = values.map(caaParts).filter((parts) => parts !== undefined)
  return caaAnswer(isAlias, properties.length > 0 ? properties : undefined)
}

/** @returns why the records of a domain do not leave it to the accounts of the wanted ones alone; undefined when they do */
export function whyOpen(
  domain: string,
  values: readonly string[],
  wanted: readonly string[],
): string | undefined {
  return caaProblem(domain, answerOf(values), accountsIn(wanted))
}
