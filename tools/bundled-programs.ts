// Vitest runs this once before the tests in Node: the processes that they start run bundles.
import { bundlePrograms } from './bundler/programs.ts'

export const setup: () => Promise<void> = bundlePrograms
