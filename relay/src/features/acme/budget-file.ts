// Reads and writes acme-budget.json, which keeps the budget of orders across restarts.

import { join } from 'node:path'
import { parseWith, z } from '../../core/config/schema.ts'
import { SettingsError } from '../../core/config/settings.ts'
import { readIfPresent, writePrivate } from '../../core/storage/state-file.ts'
import type { SavedFailure } from './failures.ts'
import { IDENTITIES_MAX, REASON_MAX_CHARS, ROOT_FAILURES_MAX, SITE_FAILURES_MAX } from './limits.ts'

export const BUDGET_FILE = 'acme-budget.json'

/** Units are those that are spent and have not come back, at the time of {@link saved_at}. */
export interface SavedBudget {
  /** Wall clock, milliseconds since the epoch. */
  saved_at: number
  orders: number
  certificates: number
  site_certificates: number
  /** Identity key → certificates. */
  identities: Record<string, number>
  root_failures: SavedFailure[]
  site_failures: SavedFailure[]
}

/** Identity keys are Ethereum addresses, and names have at most 253 characters (RFC 1035 §2.3.4). */
const KEY_MAX_CHARS = 300

const units = z.number().nonnegative()
const key = z.string().max(KEY_MAX_CHARS)
const failure: z.ZodType<SavedFailure> = z.object({
  key,
  count: z.int().positive(),
  remaining_ms: units,
  reason: z.string().max(REASON_MAX_CHARS),
})
const schema: z.ZodType<SavedBudget> = z.object({
  saved_at: units,
  orders: units,
  certificates: units,
  site_certificates: units,
  identities: z.record(key, units).refine((all) => Object.keys(all).length <= IDENTITIES_MAX, 'has too many'),
  root_failures: z.array(failure).max(ROOT_FAILURES_MAX),
  site_failures: z.array(failure).max(SITE_FAILURES_MAX),
})

/**
 * @returns undefined when there is no such file
 * @throws SettingsError when the file cannot be read or is damaged
 */
export async function readBudget(directory: string): Promise<SavedBudget | undefined> {
  const path = budgetPath(directory)
  const text = await readIfPresent(path)
  if (text === undefined) return undefined
  try {
    return parseWith(schema, JSON.parse(text))
  } catch (error) {
    const { message } = error as Error
    throw new SettingsError(path, `is damaged (${message}): move it away, and the budget begins anew`)
  }
}

/** @throws StateFileError */
export async function writeBudget(directory: string, budget: SavedBudget): Promise<void> {
  await writePrivate(budgetPath(directory), `${JSON.stringify(budget)}\n`)
}

function budgetPath(directory: string): string {
  return join(directory, BUDGET_FILE)
}
