// Recordings of exchanges as HTTP Archives, and their answers once more.

export { HarRecorder } from './har-recorder.ts'
export { replayHar } from './replay-har.ts'
