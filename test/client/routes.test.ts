import { expect, test } from 'vitest'
import { verbs } from '../../src/verbs/reeve.ts'
import { routes } from '../../src/verbs/routes.ts'

test('the table of routes says of each verb what the verb says', () => {
  expect(routes).toEqual(Object.fromEntries(Object.entries(verbs).map(([name, { route }]) => [name, route])))
})
