"""Starts the page: ``python app.py --help`` lists the options."""

from app.start import main

if __name__ == "__main__":
    main()
