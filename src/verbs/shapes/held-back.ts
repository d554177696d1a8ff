import * as z from 'zod'
import { count } from './scalars.ts'

/** Present while the disk is full: the command's output is held in memory, and written when there is space. */
export const heldBack = z.strictObject({ since: count, bytes: count }).exactOptional()
