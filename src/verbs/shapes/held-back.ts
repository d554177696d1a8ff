import * as z from 'zod'
import { count } from './scalars.ts'

/** There while the disk does not take a command's output: it waits, and goes on when there is space. */
export const heldBack = z.strictObject({ since: count, bytes: count }).exactOptional()
