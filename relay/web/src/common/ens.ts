// Asks the relay for the state of its ENS names and of its DNS provider.
import { type DomainResponse, type EnsStatus, PATH } from '@svc/protocol'
import { useEffect, useState } from '../preact.ts'
import { callApi } from './api.ts'
import { hasDevelopmentCa } from './authority.ts'

/** @returns undefined on localhost, which has no DNS. @throws ApiError */
export async function loadEns(): Promise<EnsStatus | undefined> {
  return hasDevelopmentCa ? undefined : (await callApi<DomainResponse>(PATH.domain)).ens
}

/** @returns whether sites of this relay have ENS names; false until known */
export function useEnsNames(): boolean {
  const [hasNames, setHasNames] = useState(false)
  useEffect(() => {
    loadEns().then(
      (ens) => setHasNames(ens?.enabled === true),
      // The page already says that the relay does not answer.
      () => {},
    )
  }, [])
  return hasNames
}
