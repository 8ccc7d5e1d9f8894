// The inspector of a site that this tab publishes: for the landing page, and for pages that are not made of components.

import { Inspection, type Inspector as Recorder } from '@svc/sdk-core/inspector'
import { render, useEffect, useMemo, type VNode } from '../preact.ts'
import './inspector.css'
import { Inspector } from './inspector.tsx'
import { tabSource } from './tab-source.ts'

export function TabInspector({ recorder }: { recorder: Recorder }): VNode {
  const inspection = useMemo(() => new Inspection(recorder), [recorder])
  const source = useMemo(() => tabSource(inspection), [inspection])
  useEffect(() => () => inspection.stopReplays(), [inspection])
  return <Inspector source={source} />
}

/** Shows what is recorded in an element, for as long as the page lives. */
export function showInspector(recorder: Recorder, place: HTMLElement): void {
  render(<TabInspector recorder={recorder} />, place)
}
