// Loads a library that only some users of a provider need, and that is not installed with the others.

import { DnsProviderError } from './provider-error.ts'

/** @throws DnsProviderError `unsupported` when the package is not installed */
export async function optionalLibrary<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    const message = `the package ${name} is not installed, which these credentials need: npm install ${name}`
    throw new DnsProviderError('unsupported', message, { cause: error })
  }
}
