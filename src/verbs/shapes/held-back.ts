import * as z from 'zod'
import { count } from './scalars.ts'

/** Present while the disk is full: the command's output is held in memory, and written when there is space. */
export const heldBack = z
  .strictObject({
    since: count.describe('when that began, in milliseconds since 1970'),
    bytes: count.describe('how many bytes are held in memory'),
  })
  .exactOptional()
  .describe('present while the disk is full: output that is written when there is space')
