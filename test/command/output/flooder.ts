/** Writes a counting log as fast as it can: `flooder.ts folder bytes`. */
import { countingBytes, LogWriter } from './log-writer.ts'

const [folder = '', bytes = '0'] = process.argv.slice(2)
const log = new LogWriter(folder, { headBytes: 1 << 16, segmentBytes: 1 << 15, tailBytes: 1 << 17 })
const block = 7919
while (log.end < Number(bytes)) log.write(countingBytes(log.end, Math.min(Number(bytes), log.end + block)))
