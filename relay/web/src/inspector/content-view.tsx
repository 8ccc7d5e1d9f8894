// The request, or its answer: fields, trailers, size and content.

import type { VNode } from '../preact.ts'
import { Body, Fields } from './body-view.tsx'
import { DETAIL, SIZE } from './texts.ts'
import type { BodyBytes, BodyDetail, ContentDetail } from './types.ts'

interface ContentViewProps {
  content: ContentDetail
  load(): Promise<BodyBytes>
}

export function ContentView({ content: { headers, trailers, body }, load }: ContentViewProps): VNode {
  return (
    <>
      <h3>
        {DETAIL.body} {body.wire_bytes > 0 && <span class="quiet">{sizeOf(body)}</span>}
      </h3>
      <Body view={body.view} load={load} />
      <h3>{DETAIL.headers}</h3>
      <Fields fields={headers} />
      {trailers.length > 0 && (
        <>
          <h3>{DETAIL.trailers}</h3>
          <Fields fields={trailers} />
        </>
      )}
    </>
  )
}

function sizeOf({ wire_bytes, kept_bytes, encoding, decoded_bytes, type }: BodyDetail): string {
  const size =
    encoding === undefined ? SIZE.plain(wire_bytes) : SIZE.coded(wire_bytes, encoding, decoded_bytes)
  const parts = [type ?? '', size, kept_bytes < wire_bytes ? SIZE.kept(kept_bytes) : '']
  return parts.filter(Boolean).join(', ')
}
