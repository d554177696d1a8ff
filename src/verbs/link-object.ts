import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { objectName, objectRights, shownObject } from './shapes/object.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const linkObject = verb({
  summary: 'Gives another process a handle to an object, which joins its view.',
  description:
    'A handle has some of the rights of the process that gives it, and needs its right `link`. Without `live` it shows the version of this moment, also after the object and its process are gone. Objects are shared within one tree.',
  route: 'POST /processes/{pid}/objects/link',
  needs: 'operate',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the process that gives the handle'),
      name: objectName,
      to: processRef.describe('the process that gets it'),
      as: objectName.exactOptional().describe('the name in its view; the same name if it is left out'),
      rights: objectRights.default(['read', 'materialize', 'link', 'diff']),
      live: z.boolean().default(false).describe('it shows new versions, and writes them if it may'),
    }),
  output: () => z.strictObject({ handle: z.string(), object: shownObject }),
  codes: [...processCodes, 'not_found', 'already_ended', 'name_in_use', 'invalid_request', 'limit_exceeded'],
})
