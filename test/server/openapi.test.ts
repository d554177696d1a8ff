import { expect, test } from 'vitest'
import { openApiDocument } from '../../src/server/openapi/document.ts'
import { verbs } from '../../src/verbs/reeve.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, unknown>>
}

const document = openApiDocument('1.2.3') as {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)

test('every verb is in the document, at its route and under its name', () => {
  for (const [name, { route, summary }] of Object.entries(verbs)) {
    const [method = '', path = ''] = route.split(' ')
    expect(document.paths[`/v1${path}`]?.[method.toLowerCase()]).toMatchObject({ operationId: name, summary })
  }
  expect(document.openapi).toBe('3.1.0')
})

test('each operation has a unique name, its path parameters and its refusals', () => {
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { path, parameters = [] } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(parameters.filter((one) => one.in === 'path').map(({ name }) => name)).toEqual(inPath)
  }
  for (const { operationId, responses } of operations.filter(({ operationId }) => operationId in verbs))
    expect([operationId, 'default' in responses]).toEqual([operationId, true])
})

test('every reference resolves, and shared schemas are components', () => {
  const text = JSON.stringify(document)
  expect(text).not.toContain('$defs')
  const names = [...text.matchAll(/"#\/components\/schemas\/(?<name>[^"]+)"/g)].map(
    ({ groups }) => groups?.['name'],
  )
  for (const name of names) expect(document.components.schemas).toHaveProperty([name ?? ''])
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(['ProcessRecord', 'StoredEvent', 'Filter', 'Problem', 'Bytes']),
  )
  expect(Object.keys(document.components.schemas).filter((name) => name.startsWith('__'))).toEqual([])
})
