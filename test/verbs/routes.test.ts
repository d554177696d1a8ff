import { expect, test } from 'vitest'
import { routesOfVerbs } from '../../scripts/write-routes.ts'
import { routes } from '../../src/verbs/routes.ts'

test('src/verbs/routes.ts is what scripts/write-routes.ts makes of the verbs', () => {
  expect(routes).toEqual(routesOfVerbs())
})
