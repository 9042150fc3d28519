"""Small functions with one planted fault each, and sound ones that are easily accused."""

from .argnums import FAULTS as ARGNUMS
from .argnums import SOUND as ARGNUMS_SOUND
from .contract import FAULTS as CONTRACT
from .contract import SOUND as CONTRACT_SOUND
from .entry import Planted, Sound
from .export import FAULTS as EXPORT
from .export import SOUND as EXPORT_SOUND
from .lattice import FAULTS as LATTICE
from .lattice import SOUND as LATTICE_SOUND
from .modes import FAULTS as MODES
from .modes import SOUND as MODES_SOUND
from .numeric import FAULTS as NUMERIC
from .numeric import SOUND as NUMERIC_SOUND
from .parts import FAULTS as PARTS
from .parts import SOUND as PARTS_SOUND
from .program import FAULTS as PROGRAM
from .program import SOUND as PROGRAM_SOUND
from .rules import FAULTS as RULES
from .rules import SOUND as RULES_SOUND
from .second import FAULTS as SECOND
from .second import SOUND as SECOND_SOUND
from .sharded import FAULTS as SHARDED
from .sharded import SOUND as SHARDED_SOUND
from .stops import FAULTS as STOPS
from .stops import SOUND as STOPS_SOUND
from .training import FAULTS as TRAINING
from .training import SOUND as TRAINING_SOUND
from .transformed import FAULTS as TRANSFORMED
from .transformed import SOUND as TRANSFORMED_SOUND
from .transforms import FAULTS as TRANSFORMS
from .transforms import SOUND as TRANSFORMS_SOUND

__all__ = ["FAULTS", "SOUND", "Planted", "Sound"]

FAULTS: list[Planted] = [
    *CONTRACT,
    *STOPS,
    *ARGNUMS,
    *TRANSFORMS,
    *TRANSFORMED,
    *LATTICE,
    *EXPORT,
    *SHARDED,
    *MODES,
    *NUMERIC,
    *PARTS,
    *PROGRAM,
    *SECOND,
    *RULES,
    *TRAINING,
]
SOUND: list[Sound] = [
    *CONTRACT_SOUND,
    *STOPS_SOUND,
    *ARGNUMS_SOUND,
    *TRANSFORMS_SOUND,
    *TRANSFORMED_SOUND,
    *LATTICE_SOUND,
    *EXPORT_SOUND,
    *SHARDED_SOUND,
    *MODES_SOUND,
    *NUMERIC_SOUND,
    *PARTS_SOUND,
    *PROGRAM_SOUND,
    *SECOND_SOUND,
    *RULES_SOUND,
    *TRAINING_SOUND,
]
