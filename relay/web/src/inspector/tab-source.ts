// The inspector over a recorder of the same tab: nothing of it leaves the page.

import type { Inspection } from '@svc/sdk-core/inspector'
import type { InspectorSource } from './source.ts'

export function tabSource(inspection: Inspection): InspectorSource {
  const { inspector } = inspection
  return {
    list: async (query, signal) => {
      if (query.after !== undefined) await inspection.changed(query.after, signal)
      return inspection.list(query)
    },
    entry: (id, isUnmasked, messageType) => inspection.entry(id, isUnmasked, messageType),
    body: (id, side) => inspection.body(id, side),
    replay: (request) => inspection.replay(request),
    stopReplays: async () => inspection.stopReplays(),
    clear: async () => {
      inspector.clear()
      return inspection.state
    },
    pause: async (isPaused) => {
      inspector.pause(isPaused)
      return inspection.state
    },
    compare: async (one, other, isUnmasked, messageType) =>
      inspection.compare(one, other, isUnmasked, messageType),
    exported: async (id, format, isUnmasked) => inspection.export(id, format, isUnmasked),
    har: (of, isUnmasked) =>
      'id' in of ? inspection.harOf(of.id, isUnmasked) : inspection.har(of, isUnmasked),
    importHar: async (har) => inspection.importHar(har),
    useDescriptors: (base64) => inspection.useDescriptors(base64),
  }
}
