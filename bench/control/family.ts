// The family `control`: the registry under a crowd, registrations, renewals and sites, and visitors during a flood of them.
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { flood } from './flood.ts'
import { registrations } from './registrations.ts'
import { registry } from './registry.ts'
import { sites } from './sites.ts'

export async function* control({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  yield* registry(runs)
  yield* registrations(runs)
  yield* sites(runs)
  yield* flood(runs)
}
