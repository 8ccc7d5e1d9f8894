// A custom domain of a tunnel: whether visitors can connect, what it lacks, and the records to set.

import { CopyButton } from '@svc/relay-web/common/copy-button.tsx'
import type { VNode } from '@svc/relay-web/preact.ts'
import type { DomainStatus } from '../../../src/agent/api-messages.ts'
import { DOMAIN } from '../texts/texts.ts'

type DomainRecord = DomainStatus['records'][number]

export function DomainState({ status }: { status: DomainStatus }): VNode {
  const { domain, online, records, probe } = status
  const state = stateOf(status)
  const isWrong = state === 'refused' || state === 'failed'
  const url = `https://${domain}`
  // The agent has asked for the records once the domain is active; the CAA record comes with the account.
  const wanted = records.filter(({ type }) => (status.state === 'pending' ? type !== 'CAA' : type === 'CAA'))
  const alias = wanted.filter(({ type }) => type === 'CNAME')
  const first = alias.length < wanted.length - 1 ? wanted.filter((one) => !alias.includes(one)) : wanted
  const isOpen = status.state === 'pending' || (status.state === 'active' && !status.protected)
  return (
    <div class="domain">
      <div class="row address-line">
        {online ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {url}
          </a>
        ) : (
          <bdi>{domain}</bdi>
        )}
        <span class="state" data-state={online ? 'online' : isWrong ? 'wrong' : 'quiet'}>
          {DOMAIN.states[state]}
        </span>
      </div>
      {probe === 'suspected' && (
        <p class="obstacle" data-wrong="true">
          {DOMAIN.suspected}
        </p>
      )}
      <Lacks status={status} isWrong={isWrong} />
      {isOpen && wanted.length > 0 && (
        <>
          <p class="quiet">{status.state === 'pending' ? DOMAIN.records : DOMAIN.protect}</p>
          <Records records={first} />
          {first !== wanted && alias.length > 0 && (
            <>
              <p class="quiet">{DOMAIN.either}</p>
              <Records records={alias} />
            </>
          )}
        </>
      )}
    </div>
  )
}

/** What keeps visitors away, or leaves the domain open to others. */
function Lacks({ status, isWrong }: { status: DomainStatus; isWrong: boolean }): VNode | null {
  const { state, reason, error, unprotected } = status
  if (status.protected) return <p class="quiet">{DOMAIN.protected}</p>
  const [lack = state === 'active' ? unprotected : undefined] = [error ?? reason]
  if (lack === undefined) return null
  return (
    <p class="obstacle" data-wrong={isWrong}>
      {lack}
    </p>
  )
}

function stateOf({ online, state, certificate }: DomainStatus): keyof typeof DOMAIN.states {
  if (online) return 'online'
  if (state !== 'active') return state === 'refused' ? 'refused' : 'records'
  if (certificate === 'valid') return 'away'
  return certificate === 'failed' ? 'failed' : 'ordering'
}

function Records({ records }: { records: readonly DomainRecord[] }): VNode {
  return (
    <ul class="records">
      {records.map(({ type, name, value }) => (
        <li key={type + value}>
          <b>{type}</b>
          <Copied text={name} />
          <Copied text={value} />
        </li>
      ))}
    </ul>
  )
}

function Copied({ text }: { text: string }): VNode {
  return (
    <span class="row">
      <code>{text}</code>
      <CopyButton text={text} label={DOMAIN.copy(text)} />
    </span>
  )
}
