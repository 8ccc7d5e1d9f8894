// A content by its meaning. All of it is text, except pictures of checked types.

import { formatBytes } from '../common/format.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { pictureUrl, textOf } from './bytes-text.ts'
import { messageType } from './message-type.ts'
import { DETAIL } from './texts.ts'
import type { BodyBytes, BodyView, ProtobufDetail } from './types.ts'

interface BodyViewProps {
  view: BodyView
  /** Loads the bytes of a picture. */
  load(): Promise<BodyBytes>
}

export function Body({ view, load }: BodyViewProps): VNode {
  return (
    <>
      <Content view={view} load={load} />
      {'cut' in view && view.cut && <p class="quiet">{DETAIL.cut}</p>}
    </>
  )
}

function Content({ view, load }: BodyViewProps): VNode {
  switch (view.kind) {
    case 'none':
      return <p class="quiet">{DETAIL.noBody}</p>
    case 'form':
      return <Fields fields={view.fields} />
    case 'multipart':
      return <Parts parts={view.parts} />
    case 'graphql':
      return (
        <>
          {view.operations.map(({ operation, name, query, variables }, position) => (
            <div key={position}>
              <h4>{[operation, name].filter(Boolean).join(' ')}</h4>
              <pre>{query}</pre>
              {variables !== undefined && (
                <>
                  <h4>{DETAIL.variables}</h4>
                  <pre>{variables}</pre>
                </>
              )}
            </div>
          ))}
        </>
      )
    case 'protobuf':
      return (
        <>
          <Decoded {...view} />
          <pre>{view.text}</pre>
        </>
      )
    case 'image':
      return <Picture load={load} />
    default:
      return <pre class={view.kind === 'hex' ? 'hex' : ''}>{view.text}</pre>
  }
}

/** How a message of protobuf was decoded. */
export function Decoded({ type, problem, types }: ProtobufDetail): VNode {
  return (
    <>
      <p class="quiet">
        <bdi>{type ?? [problem, DETAIL.byNumber].filter(Boolean).join('. ')}</bdi>
      </p>
      {types && <Types names={types} />}
    </>
  )
}

function Types({ names }: { names: readonly string[] }): VNode {
  const chosen = useStore(messageType)
  return (
    <select
      aria-label={DETAIL.messageType}
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) => messageType.set(value || undefined)}
    >
      <option value="">{DETAIL.noMessageType}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

export function Fields({ fields }: { fields: readonly { name: string; value: string }[] }): VNode {
  return (
    <dl class="pairs">
      {fields.map(({ name, value }, position) => (
        <div key={position}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Parts({ parts }: { parts: Extract<BodyView, { kind: 'multipart' }>['parts'] }): VNode {
  return (
    <ul class="parts" aria-label={DETAIL.parts}>
      {parts.map(({ name, file_name, type, size, text }, position) => (
        <li key={position}>
          <strong>
            <bdi>{name}</bdi>
          </strong>{' '}
          <span class="quiet">
            {[file_name === undefined ? '' : DETAIL.file(file_name), type, formatBytes(size)]
              .filter(Boolean)
              .join(' · ')}
          </span>
          {text !== undefined && text !== '' && <pre>{text}</pre>}
        </li>
      ))}
    </ul>
  )
}

function Picture({ load }: { load(): Promise<BodyBytes> }): VNode {
  const [bytes, setBytes] = useState<BodyBytes | undefined>(undefined)
  useEffect(() => {
    load().then(setBytes, () => {})
  }, [])
  if (bytes === undefined) return <p class="quiet">…</p>
  const url = pictureUrl(bytes)
  if (url !== undefined) return <img class="picture" src={url} alt={DETAIL.picture} />
  return <pre>{textOf(bytes) ?? DETAIL.noPicture}</pre>
}
