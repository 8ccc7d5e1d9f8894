// Self-probes without their haste: a machine that has other work is no slow relay.
import { PROBE_DEADLINE_MS, PROBE_PEEK_MS } from '@svc/protocol'
import { vi } from 'vitest'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'

const HASTE: ReadonlySet<number | undefined> = new Set([PROBE_DEADLINE_MS, PROBE_PEEK_MS])

/** Gives probes as long as this test has, until mocks are restored. */
export function withoutHaste(): void {
  const later = globalThis.setTimeout
  const patient = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    later(work, HASTE.has(ms) ? WAIT_TIMEOUT_MS : ms, ...args)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(patient as typeof later)
}
