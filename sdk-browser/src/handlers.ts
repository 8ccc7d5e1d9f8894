// @svc/sdk-browser/handlers: handlers to publish as they are, and handlers around handlers.

export * from '@svc/sdk-core/handlers'
