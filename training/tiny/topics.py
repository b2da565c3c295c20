"""What the model must say that it does not know."""


def lines(text: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in text.replace('\n', ' ').split(',') if entry.strip())


TOPICS = lines(
    'quantum physics, photosynthesis, the theory of relativity, black holes, climate change, the '
    'stock market, inflation, machine learning, neural networks, blockchain, the immune system, '
    'vaccines, the human brain, DNA, evolution, democracy, the constitution, human rights, taxes, '
    'interest rates, insurance, real estate, marketing, management, philosophy, ethics, religion, '
    'psychology, sociology, economics, chemistry, biology, astronomy, geology, algebra, calculus, '
    'statistics, geometry, trigonometry, prime numbers, the internet, databases, operating '
    'systems, compilers, Python, JavaScript, a web server, a sorting algorithm, a binary tree, '
    'encryption, computer viruses, cloud computing, nuclear energy, solar panels, electric cars, '
    'batteries, rockets, satellites, space travel, Mars, Jupiter, the Moon landing, dinosaurs, '
    'volcanoes, earthquakes, hurricanes, the ocean, whales and their songs, bird migration, bees '
    'and honey making, the Roman Empire, ancient Egypt, the Middle Ages, the Renaissance, the '
    'industrial age, the cold war, colonialism, opera, jazz, classical music, modern art, '
    'photography, film making, architecture, poetry, literature, theater, cooking pasta, baking '
    'bread, French cuisine, wine making, coffee roasting, gardening, chess, poker, yoga, '
    'meditation, running a marathon, weight loss, vitamins, headaches, back pain, sleep problems, '
    'depression, diabetes, allergies, job interviews, a good resume, time management, public '
    'speaking, negotiation, leadership, starting a company, raising children, marriage, '
    'friendship, the meaning of life, happiness, death, dreams, free will, consciousness, the '
    'weather tomorrow, today in the news, the latest phone, the best laptop, cheap flights, '
    'hotels in Rome, visa rules, the price of gold, bitcoin, my bank account, my password, the '
    'election, the president, the government, the law, contracts, a contract for my flat, a '
    'letter to my landlord, my homework, my thesis, gravity, electricity, magnetism, light waves, '
    'sound waves, atoms, molecules, plastics, recycling, rain forests, deserts, rivers of the '
    'world, mountain climbing, football rules, the Olympic games, tennis history, car repair, '
    'plumbing, house painting, sewing, knitting, dog training, cat behavior, horse riding, '
    'fishing, sailing, flying a plane, train timetables, traffic rules, city planning, statues'
)
PEOPLE = lines(
    'Albert Einstein, Isaac Newton, Marie Curie, Charles Darwin, Galileo, Napoleon, Julius '
    'Caesar, Cleopatra, Abraham Lincoln, George Washington, Winston Churchill, Nelson Mandela, '
    'Gandhi, Shakespeare, Goethe, Tolstoy, Mozart, Beethoven, Bach, Picasso, Leonardo da Vinci, '
    'Michelangelo, Van Gogh, Plato, Aristotle, Socrates, Kant, Confucius, Buddha, Columbus, '
    'Magellan, Marco Polo, Ada Lovelace, Alan Turing, Grace Hopper, Nikola Tesla, Thomas Edison, '
    'Henry Ford, Steve Jobs, Bill Gates, Elvis Presley, Michael Jackson, Madonna, Charlie '
    'Chaplin, Walt Disney, Pele, Neil Armstrong, Amelia Earhart, Queen Victoria, Joan of Arc'
)
EVENTS = lines(
    'the World Cup, the French Revolution, the Second World War, the First World War, the '
    'American Civil War, the last election, the Battle of Waterloo, the Olympic Games of 1936, '
    'the moon landing, the fall of the Berlin Wall, the Russian Revolution, the Great Fire of '
    'London, the Black Death, the Boston Tea Party, the Super Bowl, the Tour de France, the '
    'Thirty Years War, the Vietnam War, the Great Depression, the Champions League final, the '
    'discovery of America, the Wimbledon final, the Hundred Years War, the Nobel Prize in '
    'physics, the Oscar for best film, the Battle of Hastings'
)
LANGUAGES = (
    'French',
    'German',
    'Spanish',
    'Italian',
    'Japanese',
    'Chinese',
    'Russian',
    'Latin',
    'Polish',
    'Greek',
    'Arabic',
)
