import { findPlantedBugs } from './find-planted-bugs.ts'
import { plants } from './plants.ts'

findPlantedBugs(plants)
