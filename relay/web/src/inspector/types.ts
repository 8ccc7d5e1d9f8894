// What an inspector gives out, as its engine says it.

export type {
  BodyBytes,
  BodyDetail,
  BodyView,
  Comparison,
  ContentDetail,
  EntryDetail,
  EntryList,
  EntrySummary,
  ExportFormat,
  HeaderField,
  InspectorState,
  ListQuery,
  MessageDetail,
  ProtobufDetail,
  Replayed,
  ReplayRequest,
} from '@svc/sdk-core/inspector'
