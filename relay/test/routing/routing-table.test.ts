// Route order: the root host, which no other route ever serves, then exact, then a wildcard of one label.

import { describe, expect, test } from 'vitest'
import type { Lease } from '../../src/core/lease/lease.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { leaseNamed } from '../support/lease.ts'

describe('Routes', () => {
  const [exact, wildcard, other] = ['exact', 'wildcard', 'other'].map(leaseNamed) as [Lease, Lease, Lease]

  test('an exact name goes before the wildcard, which takes the other names', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    routes.publish('*.demo.relay.localhost', wildcard.route)
    routes.publish('a.demo.relay.localhost', exact.route)
    expect(routes.resolve('a.demo.relay.localhost')).toEqual({ to: 'lease', lease: exact })
    expect(routes.resolve('b.demo.relay.localhost')).toEqual({ to: 'lease', lease: wildcard })
    routes.withdraw('a.demo.relay.localhost', exact.route)
    expect(routes.resolve('a.demo.relay.localhost')).toEqual({ to: 'lease', lease: wildcard })
  })

  test('a wildcard stands for one label: not for none, not for two, not for an empty one', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    routes.publish('*.relay.localhost', wildcard.route)
    expect(routes.resolve('a.relay.localhost')).toEqual({ to: 'lease', lease: wildcard })
    for (const name of ['a.b.relay.localhost', '.relay.localhost', 'localhost', ''])
      expect(routes.resolve(name)).toBeUndefined()
  })

  test('the root host is never served by a wildcard, by what is published there or by what covers it', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    routes.publish('*.localhost', wildcard.route)
    routes.publish('relay.localhost', exact.route)
    routes.cover('relay.localhost', exact.route)
    expect(routes.resolve('relay.localhost')).toEqual({ to: 'root' })
    expect(routes.resolve('other.localhost')).toEqual({ to: 'lease', lease: wildcard })
  })

  test('a client that names the wildcard itself gets what any label gets', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    expect(routes.resolve('*.relay.localhost')).toBeUndefined()
    routes.publish('*.relay.localhost', wildcard.route)
    expect(routes.resolve('*.relay.localhost')).toEqual({ to: 'lease', lease: wildcard })
    expect(routes.resolve('*.*.relay.localhost')).toBeUndefined()
  })

  test('exact and wildcard have owners of their own, and only the owner withdraws', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    routes.publish('*.relay.localhost', wildcard.route)
    expect(routes.publishedAt('*.relay.localhost')).toBe(wildcard.route)
    expect(routes.publishedAt('relay.localhost')).toBeUndefined()
    routes.withdraw('*.relay.localhost', other.route)
    expect(routes.publishedAt('*.relay.localhost')).toBe(wildcard.route)
    routes.withdraw('*.relay.localhost', wildcard.route)
    expect(routes.resolve('a.relay.localhost')).toBeUndefined()
  })

  test('a route that covers a hostname goes before its lease, and outlives it', () => {
    const routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
    const snapshot: Route = { to: 'feature', isOpen: () => true, serve: async () => {} }
    const newer: Route = { ...snapshot }
    routes.publish('a.relay.localhost', exact.route)
    routes.cover('a.relay.localhost', snapshot)
    expect(routes.resolve('a.relay.localhost')).toBe(snapshot)
    expect(routes.publishedAt('a.relay.localhost')).toBe(exact.route)
    routes.withdraw('a.relay.localhost', exact.route)
    expect(routes.resolve('a.relay.localhost')).toBe(snapshot)
    routes.publish('a.relay.localhost', other.route)
    routes.cover('a.relay.localhost', newer)
    routes.uncover('a.relay.localhost', snapshot)
    expect(routes.resolve('a.relay.localhost')).toBe(newer)
    routes.uncover('a.relay.localhost', newer)
    expect(routes.resolve('a.relay.localhost')).toBe(other.route)
  })
})
