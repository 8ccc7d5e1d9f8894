// @svc/sdk-node/handlers: handlers to publish, and handlers that wrap others.

export * from '@svc/sdk-core/handlers'
