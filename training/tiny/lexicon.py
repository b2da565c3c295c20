"""The words and facts that the generator writes its examples with."""


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def pairs(text: str) -> dict[str, str]:
    """Reads `left=right, left=right`."""
    entries = (entry.strip() for entry in text.replace('\n', ' ').split(','))
    return dict(entry.split('=', 1) for entry in entries if entry)


CATEGORIES = {
    'animal': words(
        'cat dog horse cow pig sheep goat lion tiger bear wolf fox rabbit mouse elephant monkey '
        'snake frog duck chicken eagle owl whale shark dolphin spider bee ant camel zebra giraffe '
        'penguin turtle crab deer donkey goose swan hamster kangaroo panda parrot salmon squirrel'
    ),
    'color': words(
        'red blue green yellow black white brown orange purple pink gray violet golden silver '
        'turquoise crimson beige'
    ),
    'fruit': words(
        'apple orange banana pear cherry grape lemon melon peach plum mango kiwi apricot '
        'strawberry raspberry pineapple coconut fig lime blueberry papaya'
    ),
    'vegetable': words(
        'carrot potato onion cabbage spinach broccoli cucumber garlic lettuce pumpkin radish '
        'celery leek turnip cauliflower zucchini'
    ),
    'country': words(
        'France Germany Italy Spain Japan China India Brazil Canada Mexico Egypt Kenya Norway '
        'Sweden Poland Greece Turkey Russia Portugal Peru Chile Cuba Finland Ireland Austria '
        'Denmark'
    ),
    'city': words(
        'Paris Berlin Rome Madrid Tokyo Beijing Delhi Ottawa Cairo Nairobi Oslo Stockholm Warsaw '
        'Athens Ankara Moscow Lisbon Lima Santiago Havana Helsinki Dublin Vienna London Boston '
        'Chicago Sydney Hamburg Milan Barcelona Mumbai Toronto Geneva Seattle'
    ),
    'vehicle': words(
        'car bus train bicycle truck boat ship plane tram motorcycle helicopter taxi tractor van '
        'ferry scooter submarine'
    ),
    'tool': words(
        'hammer saw drill screwdriver wrench axe shovel rake chisel pliers ladder knife scissors'
    ),
    'instrument': words(
        'piano guitar violin drum flute trumpet harp cello clarinet saxophone trombone banjo organ'
    ),
    'drink': words('water milk tea coffee juice wine beer lemonade cocoa cider'),
    'garment': words(
        'shirt coat hat shoe sock dress skirt jacket glove scarf sweater boot belt cap trousers'
    ),
    'sport': words(
        'football tennis hockey golf rugby swimming boxing rowing volleyball basketball baseball'
    ),
}

OTHER_NOUNS = words(
    'house door window table chair bed lamp book pen paper bag box cup plate bottle key clock '
    'phone garden tree flower river lake mountain road bridge school shop market office church '
    'tower wall floor roof kitchen letter story song picture game ball ticket coin ring rope '
    'stone sand cloud rain snow wind star moon sun fire island forest field farm village street '
    'station hotel museum teacher doctor farmer baker driver sailor artist writer friend brother '
    'sister mother father child king queen bread cheese butter sugar salt soup cake rice egg '
    'honey pepper basket blanket mirror pencil candle button feather hospital library computer '
    'camera engine wheel needle'
)

ADJECTIVES = words(
    'big small old new young happy sad fast slow warm cold clean dirty quiet loud bright dark '
    'long short high low strong weak rich poor heavy light soft hard early late easy brave calm '
    'clever funny gentle kind lazy proud tiny wide narrow deep round sharp smooth sweet thick '
    'thin wild'
)

VERBS = words(
    'read write run walk jump sing dance cook eat drink sleep play work learn teach help build '
    'paint draw clean open close carry push pull throw catch find lose win buy sell send bring '
    'take give show tell ask call wait stay leave arrive travel swim climb drive ride fly'
)

NAMES = words(
    'Anna Tom Maria Peter John Lucy Emma Paul Sara David Laura Mark Nina Oscar Julia Leo Alice '
    'Ben Clara Daniel Eva Frank Grace Henry Iris Jack Kate Lily Max Nora Oliver Paula Rosa Sam '
    'Tina Victor Wendy Zoe Adam Bella Carl Diana Eric Fiona George Helen Ivan Jane Karl Linda '
    'Martin Olga Philip Ruth Simon Vera Walter Hugo Amir Chen Priya Yuki Omar Lena Noah Mia'
)

SURNAMES = words(
    'Smith Jones Brown Miller Davis Wilson Moore Taylor White Clark Lewis Hall Young King Wright '
    'Green Baker Adams Nelson Carter Weber Novak Rossi Silva Kim Khan Singh Meyer Berg Costa'
)

CAPITALS = pairs(
    'France=Paris, Germany=Berlin, Italy=Rome, Spain=Madrid, Japan=Tokyo, China=Beijing, '
    'India=New Delhi, Canada=Ottawa, Mexico=Mexico City, Egypt=Cairo, Kenya=Nairobi, Norway=Oslo, '
    'Sweden=Stockholm, Poland=Warsaw, Greece=Athens, Turkey=Ankara, Russia=Moscow, '
    'Portugal=Lisbon, Peru=Lima, Chile=Santiago, Cuba=Havana, Finland=Helsinki, Ireland=Dublin, '
    'Austria=Vienna, Denmark=Copenhagen, Belgium=Brussels, the Netherlands=Amsterdam, '
    'Switzerland=Bern, Hungary=Budapest, Romania=Bucharest, Bulgaria=Sofia, Ukraine=Kyiv, '
    'Iceland=Reykjavik, the United Kingdom=London, the United States=Washington, '
    'Australia=Canberra, Brazil=Brasilia, Argentina=Buenos Aires, Thailand=Bangkok, '
    'Vietnam=Hanoi, South Korea=Seoul, Morocco=Rabat, Iran=Tehran, Iraq=Baghdad'
)

OPPOSITES = pairs(
    'big=small, hot=cold, old=new, happy=sad, fast=slow, clean=dirty, quiet=loud, bright=dark, '
    'long=short, high=low, strong=weak, rich=poor, heavy=light, soft=hard, early=late, '
    'easy=difficult, wide=narrow, deep=shallow, thick=thin, wet=dry, full=empty, open=closed, '
    'up=down, left=right, day=night, good=bad, black=white, first=last, in=out, true=false, '
    'yes=no, love=hate, win=lose, buy=sell, start=stop, push=pull, always=never, more=less, '
    'near=far, safe=dangerous, alive=dead, begin=end, summer=winter, north=south, east=west'
)

IRREGULAR_PLURALS = pairs(
    'mouse=mice, goose=geese, child=children, man=men, woman=women, foot=feet, tooth=teeth, '
    'person=people, sheep=sheep, deer=deer, knife=knives, wolf=wolves, leaf=leaves'
)

DAYS = words('Monday Tuesday Wednesday Thursday Friday Saturday Sunday')
MONTHS = words(
    'January February March April May June July August September October November December'
)
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# One larger unit, how many, of the smaller unit; then the largest number the examples use.
UNITS = (
    ('week', 7, 'day', 12),
    ('day', 24, 'hour', 4),
    ('hour', 60, 'minute', 10),
    ('minute', 60, 'second', 10),
    ('year', 12, 'month', 10),
    ('meter', 100, 'centimeter', 90),
    ('kilometer', 1000, 'meter', 90),
    ('centimeter', 10, 'millimeter', 90),
    ('kilogram', 1000, 'gram', 90),
    ('ton', 1000, 'kilogram', 90),
    ('liter', 1000, 'milliliter', 90),
    ('dozen', 12, 'piece', 10),
)

FACTS = pairs(
    'the color of the sky=blue, the color of grass=green, the color of snow=white, the color of a '
    'banana=yellow, the color of coal=black, the color of blood=red'
)

SOUNDS = pairs(
    'cat=meow, dog=woof, cow=moo, sheep=baa, duck=quack, pig=oink, lion=roar, bee=buzz, '
    'snake=hiss, owl=hoot, mouse=squeak, frog=croak'
)

ALL_NOUNS = (
    tuple(
        dict.fromkeys(
            word
            for name in ('animal', 'fruit', 'vegetable', 'vehicle', 'tool', 'instrument', 'garment')
            for word in CATEGORIES[name]
        )
    )
    + OTHER_NOUNS
)

ALL_WORDS = tuple(dict.fromkeys(ALL_NOUNS + ADJECTIVES + VERBS + CATEGORIES['color']))
